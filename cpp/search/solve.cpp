#include "search/solve.hpp"

#include <algorithm>
#include <cmath>

#include "search/node.hpp"

namespace exactsindy {

namespace {

constexpr double kSparing = 20.0;  // times as long as saving takes are left to the search before the next time

// What the calling thread shows while workers are busy.
struct Board {
  std::mutex mutex;
  std::vector<Search*> active;
  std::vector<Snapshot> last;
  Saved ended;

  explicit Board(std::size_t n) : active(n, nullptr), last(n) {}
  void set(int i, Search* search) {
    const std::lock_guard lock(mutex);
    take(i);
    active[i] = search;
  }
  // What a search that ended is stored as.
  void keep(std::uint64_t section, std::vector<std::int64_t>&& numbers) {
    const std::lock_guard lock(mutex);
    ended[section] = std::move(numbers);
  }
  // All searches as numbers.
  Saved saved() {
    const std::lock_guard lock(mutex);
    Saved all = ended;
    for (const Search* search : active)
      if (search && search->branches) all[search->section] = search->saved();
    return all;
  }
  std::vector<Snapshot> look() {
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < active.size(); ++i) take(i);
    return last;
  }

 private:
  void take(std::size_t i) {
    if (!active[i]) return;
    auto [error, support] = active[i]->best();
    last[i] = in_units({error, active[i]->current_bound(), std::move(support)}, active[i]->equation.instance.units());
  }
};

// Equations with the same columns: the first that is ready serves the others, until the last of them has begun.
class Alike {
 public:
  explicit Alike(const std::vector<Request>& requests) : first_(requests.size()), left_(requests.size(), 0) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      first_[i] = i;
      if (i > 0 && same(requests[i - 1], requests[i])) first_[i] = first_[i - 1];
      ++left_[first_[i]];
    }
    ready_.resize(requests.size());
  }
  // An equation with the columns of this one, if there is one yet. Asked once for each.
  std::shared_ptr<const Equation> take(int i) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const Equation>& ready = ready_[first_[i]];
    return --left_[first_[i]] > 0 ? ready : std::move(ready);
  }
  void offer(int i, const std::shared_ptr<const Equation>& equation) {
    const std::lock_guard lock(mutex_);
    if (left_[first_[i]] > 0 && !ready_[first_[i]] && equation->shares()) ready_[first_[i]] = equation;
  }

 private:
  static bool same(const Request& a, const Request& b) {
    const auto plain = [](const Request& r) {
      return std::all_of(r.factor.ridge.begin(), r.factor.ridge.end(), [](double x) { return x == 0.0; });
    };
    return a.factor.entries == b.factor.entries && a.factor.row == b.factor.row &&
           a.factor.target.size() == b.factor.target.size() && (a.size > 2) == (b.size > 2) && plain(a) && plain(b);
  }

  std::mutex mutex_;
  std::vector<std::size_t> first_;  // of the equations alike
  std::vector<int> left_;           // by first: how many have not begun
  std::vector<std::shared_ptr<const Equation>> ready_;
};

// Solves all sizes of one equation, on one worker with the help of idle ones.
class Job {
 public:
  Job(Engine& engine, Worker& worker, Board& board, Alike& alike, int index, const Request& request,
      const Options& options)
      : engine_(engine),
        worker_(worker),
        board_(board),
        index_(index),
        size_(request.size),
        options_(options),
        start_(engine.elapsed()),
        crew_([&](int count, const std::function<void(int)>& part) { return engine.share(worker, count, part); }),
        owner_(prepared(alike, request)),
        equation_(*owner_),
        starts_(request.starts),
        preparation_(engine.elapsed() - start_) {
    const std::vector<int>& original = equation_.instance.original;
    const auto columns_of = [&](const std::vector<int>& given) {
      std::vector<int> columns;
      for (int j : given) {
        const auto at = std::lower_bound(original.begin(), original.end(), j);
        if (at != original.end() && *at == j) columns.push_back(static_cast<int>(at - original.begin()));
      }
      return columns;
    };
    for (std::vector<int>& start : starts_) start = columns_of(start);
    required_ = columns_of(request.required);
    std::sort(required_.begin(), required_.end());
    if (equation_.instance.whole && required_.size() != request.required.size())
      throw std::invalid_argument("a required column is zero or missing");
    forbidden_ = columns_of(request.forbidden);
    const Units units = equation_.instance.units();
    for (double limit : request.limits) limits_.push_back(limit < 0.0 ? -1.0 : units.error(limit));
  }

  Solved run() {
    std::vector<Outcome> all;
    if (!equation_.ready)
      all = cut_short();
    else if (!limits_.empty())
      all = pools();
    else if (options_.pool)
      all = {one(size_, starts_)};
    else
      all = options_.path ? path() : std::vector<Outcome>{at_most(size_)};
    all.front().seconds += preparation_;
    return {std::move(all), equation_.instance.units()};
  }

 private:
  std::shared_ptr<const Equation> prepared(Alike& alike, const Request& request) {
    const auto like = alike.take(index_);
    if (like && !engine_.late())
      return std::make_shared<const Equation>(like, like->instance.with_target(request.factor));
    auto own = std::make_shared<const Equation>(instance_of(request), request.size > 2, crew_);
    alike.offer(index_, own);
    return own;
  }

  // The equation, and for large ones a support at once: all else takes longer by far.
  Instance instance_of(const Request& request) {
    Instance in = Instance::from_factor(request.factor, engine_.late() ? Crew(nobody) : crew_);
    if (in.columns >= kShareFrom) first_ = greedy(in, size_);
    return in;
  }

  // The time was over before the search could begin: what a greedy choice gives, and no bound but the trivial one.
  std::vector<Outcome> cut_short() {
    if (!limits_.empty()) {
      Outcome open;
      open.stop = engine_.stop();
      return std::vector<Outcome>(size_ + 1, open);
    }
    const bool free = required_.empty() && forbidden_.empty();
    const std::vector<int> order = !free ? std::vector<int>{} : first_ ? *first_ : greedy(equation_.instance, size_);
    Refitter refitter(equation_.instance);
    Fit fit;
    std::vector<Outcome> all{least_support()};
    for (std::size_t size = 1; size <= static_cast<std::size_t>(size_); ++size) {
      Outcome out;
      out.answers = all.back().answers;
      if (size <= order.size()) {
        std::vector<int> support(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size));
        std::sort(support.begin(), support.end());
        refitter.fit(support, fit);
        if (fit.admissible() && better(answer_of(fit), out.answers.front())) out.answers = {answer_of(fit)};
      }
      out.stop = engine_.stop();
      all.push_back(std::move(out));
    }
    if (!options_.path) all.erase(all.begin(), all.end() - 1);
    if (options_.pool)
      std::erase_if(all.back().answers, [&](const Answer& a) { return static_cast<int>(a.support.size()) != size_; });
    return all;
  }

  int least() const { return static_cast<int>(required_.size()); }

  std::uint64_t section_of(int size) const {
    return options_.first_section + static_cast<std::uint64_t>(index_) * kSections + static_cast<std::uint64_t>(size);
  }

  // No support counts; `dependent` if that is because their terms depend on each other.
  static Outcome none(bool dependent) {
    Outcome out;
    out.lower = kInf;
    out.complete = true;
    out.dependent = dependent;
    return out;
  }

  // The required terms alone: without any, the empty support.
  Outcome least_support() {
    Refitter refitter(equation_.instance);
    Fit fit;
    refitter.fit(required_, fit);
    if (!fit.admissible()) return none(true);
    Outcome out;
    out.answers = {answer_of(fit)};
    out.lower = out.answers.front().lower();
    out.runner_up = kInf;
    out.complete = true;
    return out;
  }

  // The best supports of exactly `size` terms; `smaller_` holds a smaller one with the same error, if seen.
  Outcome one(int size, const std::vector<std::vector<int>>& starts, double limit = -1.0) {
    smaller_.reset();
    superseded_ = dependent_ = false;
    if (size < least()) return none(false);
    if (size > equation_.most && !options_.proof)  // no independent support is that large
      return none(size <= equation_.instance.columns);
    if (size == least()) {
      Outcome out = least_support();
      dependent_ = out.dependent;
      if (limit >= 0.0 && !out.answers.empty() && out.answers.front().error.hi > limit) out.answers.clear();
      if (options_.proof && size == 0) {
        const std::uint64_t section = section_of(0);
        ProofChunk chunk;
        chunk.begin(options_.proof, section, 0);
        chunk.write(kStepScanned);
        chunk.flush();
        out.written = {{section, 0, kInf, {}}};
      }
      return out;
    }
    const double begin = engine_.elapsed();
    const std::uint64_t section = section_of(size);
    Search search(equation_,
                  {size, options_.keep, options_.within, !options_.pool, options_.capacity, options_.gap, limit,
                   required_, forbidden_},
                  options_.proof, section);
    if (options_.save) {
      search.branches = std::make_unique<Branches>();
      const auto before = options_.resume.find(section);
      if (before != options_.resume.end()) search.restore(before->second);
    }
    board_.set(index_, &search);
    if (!search.done()) {
      if (limit < 0.0) worker_.incumbents(search, starts);
      if (engine_.stop() == Stop::kNone)
        engine_.explore(worker_, search);
      else
        search.leave_open(0.0);
    }
    board_.set(index_, nullptr);
    if (search.branches) board_.keep(section, search.saved());
    Outcome out;
    out.stop = engine_.stop();
    out.nodes = search.nodes.load();
    out.seconds = engine_.elapsed() - begin;
    std::vector<Answer> all = search.answers();
    if (options_.pool && options_.within >= 0.0 && !all.empty()) {
      const Double2 best = all.front().error, tie = all.front().key();
      const Double2 most = best + Double2{options_.within, 0.0} * (best + equation_.instance.rest);
      std::erase_if(all, [&](const Answer& a) { return most < a.error && !(a.key() == tie); });
    }
    // A search that was cut short although nothing was left open is complete.
    const bool finished = search.open_bound() == kInf && !search.superseded();
    if (finished) out.stop = Stop::kNone;
    const double best = all.empty() ? kInf : all.front().lower();
    out.lower = std::min(best, search.open_bound());
    out.complete = finished && !search.overflow();
    if (options_.proof && out.complete) {
      out.written = {{section, size, search.cut(), {}}};
      if (search.perspective.load()) out.written[0].delta = Perspective(equation_.instance, equation_.guide).delta();
    }
    if (finished && !options_.pool) {
      const bool tie = all.size() > 1 && all[0].key() == all[1].key();
      out.runner_up = tie ? all[0].error.hi : all.size() > 1 ? all[1].error.hi : kInf;
    }
    out.answers = std::move(all);
    smaller_ = search.smaller();
    superseded_ = search.superseded();
    dependent_ = search.saw_dependent();
    out.dependent = dependent_;
    return out;
  }

  // Best support of at most `size` terms. A search for exactly `size` terms settles the smaller sizes as well, with
  // three exceptions that have to be looked at on their own: a smaller support with the same error wins (and needs its
  // own margin), ties at error 0 are cut short, and terms that depend on each other may hide what a part of them can
  // do.
  Outcome at_most(int size) {
    std::optional<Outcome> best;
    std::vector<std::vector<int>> starts = starts_;
    std::int64_t nodes = 0;
    bool dependent = false;
    double seconds = 0.0, lower = kInf;  // of what was left open
    std::vector<Written> written;
    for (;;) {
      const Outcome out = one(size, starts);
      nodes += out.nodes;
      dependent |= out.dependent;
      seconds += out.seconds;
      written.insert(written.end(), out.written.begin(), out.written.end());
      if (!out.complete && !superseded_) lower = std::min(lower, dependent_ ? 0.0 : out.lower);
      const bool won = !out.answers.empty() && (!best || better(out.answers.front(), best->answers.front()));
      if (won) best = out;
      const bool tie = smaller_ && (!best || better(*smaller_, best->answers.front()));
      if (out.stop != Stop::kNone) {
        Outcome rest;
        rest.stop = out.stop;
        rest.answers = tie ? std::vector{*smaller_} : best ? best->answers : least_support().answers;
        best = std::move(rest);
        best->lower = kInf;
        break;
      }
      const bool zero = won && best->answers.front().error.hi == 0.0;
      if (size <= least() || (best && !tie && !dependent_ && !zero)) break;
      if (tie) starts.push_back(smaller_->support);
      // Nothing between beats a smaller support with the same error, or without any.
      const bool jump = tie && (smaller_->error.hi == 0.0 || !dependent_);
      size = jump ? static_cast<int>(smaller_->support.size()) : size - 1;
    }
    if (!best) best = none(dependent);
    best->nodes = nodes;
    best->written = std::move(written);
    best->seconds = seconds;
    best->dependent = dependent;
    best->lower = std::min(lower, best->lower);
    if (!best->answers.empty()) best->lower = std::min(best->lower, best->answers.front().lower());
    return *best;
  }

  std::vector<Outcome> path() {
    std::vector<Outcome> all(std::min(least(), size_ + 1), none(false));  // too few for the required terms
    if (least() > size_) return all;
    all.push_back(one(least(), {}));
    std::vector<std::vector<int>> starts = starts_;
    for (int size = least() + 1; size <= size_ && !all.back().answers.empty(); ++size) {
      const Outcome& before = all.back();
      Outcome out;
      const bool exact = before.stop == Stop::kNone && before.answers.front().error.hi == 0.0;
      if (!exact) out = one(size, starts);
      const bool worse = out.answers.empty() || !better(out.answers.front(), before.answers.front());
      if (exact || (out.stop == Stop::kNone && worse)) {  // more terms do not help: the smaller support stays
        Outcome same = before;
        same.nodes = out.nodes;
        same.seconds = out.seconds;
        same.written = out.written;
        same.dependent |= out.dependent;
        out = std::move(same);
      } else if (worse) {
        out.answers = before.answers;
      }
      out.lower = std::min(out.lower, before.lower);
      out.dependent |= before.dependent;
      starts = starts_;
      starts.push_back(out.answers.front().support);
      all.push_back(std::move(out));
    }
    all.resize(size_ + 1, none(true));  // the required terms depend on each other
    return all;
  }

  std::vector<Outcome> pools() {
    std::vector<Outcome> all(size_ + 1);
    for (int size = 0; size <= size_; ++size)
      if (limits_[size] >= 0.0) all[size] = one(size, {}, limits_[size]);
    return all;
  }

  Engine& engine_;
  Worker& worker_;
  Board& board_;
  const int index_;
  const int size_;
  const Options& options_;
  const double start_;
  const Crew crew_;
  std::optional<std::vector<int>> first_;  // terms in the order of a greedy choice
  const std::shared_ptr<const Equation> owner_;
  const Equation& equation_;
  std::vector<std::vector<int>> starts_;   // in the columns of the instance, as the next two
  std::vector<int> required_, forbidden_;  // terms of every support, and of none
  std::vector<double> limits_;             // errors that pools of each size go up to
  const double preparation_;               // seconds
  // Of the last search:
  std::optional<Answer> smaller_;
  bool superseded_ = false;
  bool dependent_ = false;  // it passed over supports of dependent terms
};

}  // namespace

std::vector<Solved> solve(const std::vector<Request>& requests, const Options& options, const Watch& watch) {
  Board board(requests.size());
  std::vector<Solved> results(requests.size());
  Alike alike(requests);
  Engine* running = nullptr;
  double due = options.save_every;
  Engine engine(options.limits, [&] {
    if (options.save && running->elapsed() >= due) {
      const double begin = running->elapsed();
      if (!options.save(board.saved())) return false;
      const double end = running->elapsed();
      due = end + std::max(options.save_every, kSparing * (end - begin));
    }
    return !watch || watch(board.look(), running->nodes(), running->elapsed());
  });
  running = &engine;
  engine.run(static_cast<int>(requests.size()), [&](Worker& worker, int i) {
    Job job(engine, worker, board, alike, i, requests[i], options);
    results[i] = job.run();
  });
  if (options.save) options.save(board.saved());
  return results;
}

}  // namespace exactsindy
