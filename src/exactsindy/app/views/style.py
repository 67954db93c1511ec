"""How the page looks: calm, one column, readable on a phone."""

CSS = """
:root { --ink: #1f2a35; --quiet: #5b6875; --line: #dde3e8; --paper: #ffffff; --ground: #f4f6f8; --accent: #0072b2;
  --soft: #eef2f6;  --sure: #1b7a4b; --sure-ground: #e8f5ee; --unsure: #8a5a00; --unsure-ground: #fdf3dc;
  --wrong: #a3262a; --wrong-ground: #fbe9e9; --changed: #3c4f8a; --changed-ground: #e9edf9; }
.body--dark { --ink: #e6e9ed; --quiet: #a3adb8; --line: #333b44; --paper: #1c2127; --ground: #14171b;
  --accent: #2b8fd0; --soft: #2a323a; --sure: #5fd08a; --sure-ground: #173324; --unsure: #e3b341;
  --unsure-ground: #37290b; --wrong: #ff8a82; --wrong-ground: #3c1a1c; --changed: #a9b8f5; --changed-ground: #222a47;
  --q-primary: #3a94d6 !important; color-scheme: dark; }
body { background: var(--ground); color: var(--ink); font-size: 15px; }
.nicegui-content { padding: 0; align-items: center; gap: 0; }
.page { width: 100%; max-width: 1080px; padding: 0 20px 60px; box-sizing: border-box; margin: 0 auto; }
.top { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 16px; padding: 18px 0 10px; }
.top h1 { font-size: 24px; font-weight: 600; margin: 0; line-height: 1.2; }
.quiet { color: var(--quiet); margin: 2px 0; }
.part { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 16px 20px 18px;
  margin: 0 0 16px; width: 100%; box-sizing: border-box; }
.part-name { font-size: 18px; font-weight: 600; margin: 0 0 4px; line-height: 1.3; }
.sub-name { font-size: 15px; font-weight: 600; margin: 18px 0 6px; line-height: 1.3; }
.line { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 10px 18px; }
.facts { display: flex; flex-wrap: wrap; gap: 4px 26px; margin: 10px 0; }
.facts b { font-weight: 600; }
.plot { width: 100%; min-width: 0; }
.notice { border-left: 3px solid #d9a92c; padding: 2px 0 2px 10px; margin: 6px 0; overflow-wrap: anywhere; }
.problem { border-left: 3px solid var(--wrong); padding: 4px 0 4px 10px; margin: 8px 0; overflow-wrap: anywhere; }
.verdict { border-radius: 10px; padding: 12px 18px; margin: 0 0 12px; font-size: 19px; font-weight: 600; }
.tone-sure { background: var(--sure-ground); color: var(--sure); }
.tone-unsure { background: var(--unsure-ground); color: var(--unsure); }
.tone-wrong { background: var(--wrong-ground); color: var(--wrong); }
.tone-changed { background: var(--changed-ground); color: var(--changed); }
.equation { border-top: 1px solid var(--line); padding: 12px 0 8px; }
.equation:first-of-type { border-top: none; }
.formula { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 6px; font-size: 18px;
  overflow-wrap: anywhere; }
.formula math { font-size: 20px; }
.term.q-btn { text-transform: none; font-size: 17px; padding: 2px 9px; min-height: 36px; border-radius: 8px;
  background: var(--soft); color: var(--ink); font-weight: 400; letter-spacing: 0; }
.term.required { outline: 2px solid var(--changed); }
.term .q-btn__content { gap: 6px; flex-wrap: wrap; }
.term.rival-term { font-size: 15px; min-height: 30px; padding: 1px 8px; }
.said { margin: 6px 0 0; overflow-wrap: anywhere; }
.said-sure { color: var(--sure); font-weight: 600; } .said-unsure { color: var(--unsure); font-weight: 600; }
.said-wrong { color: var(--wrong); font-weight: 600; } .said-changed { color: var(--changed); font-weight: 600; }
.q-btn { text-transform: none; letter-spacing: 0; }
.q-chip { font-size: 14px; }
.q-chip.chip-on { background: var(--accent); color: white; }
.q-chip.chip-off { background: var(--soft); color: var(--ink); }
.q-chip.chip-on .q-icon { color: white; }
.rival { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; padding: 3px 0; }
.columns-table { display: grid; grid-template-columns: repeat(auto-fill, minmax(210px, 1fr)); gap: 6px 14px; }
.code { background: var(--ground); border-radius: 8px; padding: 10px 12px; overflow-x: auto; font-size: 13px;
  margin: 6px 0; white-space: pre-wrap; overflow-wrap: anywhere;
  font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
.q-uploader { width: 100%; max-height: 110px; box-shadow: none; border: 1.5px dashed #aab6c1; border-radius: 10px; }
.q-uploader__header { background: transparent; color: var(--ink); }
.q-uploader__subtitle { display: none; }
.q-expansion-item .q-item { padding: 4px 0; min-height: 36px; }
.q-expansion-item__toggle-focus { border-radius: 4px; }
.q-uploader__list { padding: 0; min-height: 0; }
.phase { padding: 2px 0; } .phase-now { font-weight: 600; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(380px, 100%), 1fr)); gap: 16px; }
.side { border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; min-width: 0; overflow-wrap: anywhere; }
:focus-visible { outline: 3px solid #e69f00 !important; outline-offset: 2px; }
.q-btn:focus-visible, .q-chip:focus-visible { box-shadow: 0 0 0 3px #e69f00 !important; }
.body--dark .plot text { fill: var(--ink) !important; }
.body--dark .plot :is(.gridlayer, .zerolinelayer) path { stroke: var(--line) !important; }
.body--dark .plot [style*="rgb(0, 114, 178)"] { stroke: #56b4e9 !important; }
.body--dark .plot .point[style*="rgb(0, 114, 178)"] { fill: #56b4e9 !important; }
.body--dark .plot [style*="rgb(86, 105, 125)"] { stroke: #8b99a8 !important; fill: #8b99a8 !important; }
@media (max-width: 500px) { .page { padding: 0 10px 40px; } .part { padding: 12px; } .formula { font-size: 16px; } }
"""
