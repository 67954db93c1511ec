// Names of what is compiled once per instruction set: EXACTSINDY_ISA is generic, avx2 or avx512 (see CMakeLists.txt).
#pragma once

#define EXACTSINDY_JOIN_(name, isa) name##_##isa
#define EXACTSINDY_JOIN(name, isa) EXACTSINDY_JOIN_(name, isa)
#define EXACTSINDY_TEXT_(isa) #isa
#define EXACTSINDY_TEXT(isa) EXACTSINDY_TEXT_(isa)

#define EXACTSINDY_ISA_NAME(name) EXACTSINDY_JOIN(name, EXACTSINDY_ISA)
#define EXACTSINDY_ISA_TEXT EXACTSINDY_TEXT(EXACTSINDY_ISA)
