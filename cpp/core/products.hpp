// Products of whole blocks of rows.
#pragma once
#include <algorithm>

#include "core/kernels.hpp"

namespace exactsindy {

// out_ij = dot product of row i of a and row j of b over n (a multiple of 8) entries. Long rows are taken in pieces of
// 512 entries, which stay in the cache. Roundings per term: a piece of p entries has p/8 + 3 (see Kernels::dot) and
// each further piece adds one sum, while it has at least 8 entries; so n/8 + 3 holds for any n, as for `dot` itself,
// and up to 512 entries the result is that of `dot` to the bit.
inline void products(Rows a, Rows b, int n, double* out, int stride) {
  constexpr int kPiece = 512;
  for (int from = 0; from == 0 || from < n; from += kPiece)
    kernels().dots({a.data + from, a.stride, a.count}, {b.data + from, b.stride, b.count}, std::min(kPiece, n - from),
                   out, stride, from > 0);
}

}  // namespace exactsindy
