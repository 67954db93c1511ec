// What a search writes down for a checker: how it covered all supports, step by step (checker/FORMAT.md).
#pragma once
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace exactsindy {

// Takes bytes of a chunk of a section; called by several threads, one at a time.
using ProofSink = std::function<void(std::uint64_t section, std::uint64_t chunk, std::span<const unsigned char> bytes)>;

// The steps of a node's record; a number from kStepBranch on branches on the term (step - kStepBranch).
enum ProofStep : std::uint64_t {
  kStepBounded = 0,      // the bound of the node exceeds the cut
  kStepScanned = 1,      // at most two slots: all supports were looked at
  kStepWhole = 2,        // all free terms fit: one support and its parts
  kStepDependent = 3,    // the terms in depend on each other
  kStepGoto = 4,         // another chunk goes on
  kStepDrops = 5,        // dropping any of some terms exceeds the cut
  kStepPerspective = 6,  // the perspective bound at a point exceeds the cut
  kStepBranch = 8,
};

// Numbers of one chunk, seven bits per byte; handed to the sink when many have come together.
class ProofChunk {
 public:
  // Without a sink nothing is written.
  void begin(const ProofSink* sink, std::uint64_t section, std::uint64_t chunk) {
    sink_ = sink;
    section_ = section;
    chunk_ = chunk;
    bytes_.clear();
  }
  std::uint64_t chunk() const { return chunk_; }
  void write(std::uint64_t number) {
    if (!sink_) return;
    for (; number >= 128; number >>= 7) bytes_.push_back(static_cast<unsigned char>(number | 128));
    bytes_.push_back(static_cast<unsigned char>(number));
    if (bytes_.size() >= kFull) flush();
  }
  // Four bytes, lowest first.
  void write_float(float number) {
    if (!sink_) return;
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<unsigned char>(bits >> shift));
  }
  void flush() {
    if (sink_ && !bytes_.empty()) (*sink_)(section_, chunk_, bytes_);
    bytes_.clear();
  }

 private:
  static constexpr std::size_t kFull = 1 << 16;
  const ProofSink* sink_ = nullptr;
  std::uint64_t section_ = 0, chunk_ = 0;
  std::vector<unsigned char> bytes_;
};

}  // namespace exactsindy
