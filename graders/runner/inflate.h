// Unpacks DEFLATE, the compressed format of zlib and gzip, without their headers. Source: RFC 1951.
//
// Packed bytes come from a client, so nothing in them is trusted: every code, length and distance is checked.
#pragma once

#include "lines.h"

namespace runner {

[[noreturn]] inline void damaged_deflate(const char* what) {
  fault(FaultKind::System, std::string("packed bytes are damaged: ") + what);
}

// Bits of packed bytes, the lowest of each byte first. After the end there are a few zeros, then a fault.
class PackedBits {
 public:
  explicit PackedBits(std::string_view bytes) : bytes_(bytes) {}

  unsigned peek(int count) {
    if (held_ < count) fill(count);
    return static_cast<unsigned>(bits_ & ((uint64_t{1} << count) - 1));
  }

  void skip(int count) {
    bits_ >>= count;
    held_ -= count;
  }

  unsigned take(int count) {
    unsigned value = peek(count);
    skip(count);
    return value;
  }

  void skip_to_byte() { skip(held_ % 8); }

 private:
  void fill(int count) {
    if (at_ + sizeof bits_ <= bytes_.size()) {
      uint64_t next;
      memcpy(&next, bytes_.data() + at_, sizeof next);
      bits_ |= next << held_;  // also a part of a byte that is not held; the same bits are added when it is read again
      int bytes = (63 - held_) / 8;
      at_ += static_cast<size_t>(bytes);
      held_ += 8 * bytes;
    }
    while (held_ < count) {
      if (at_ >= bytes_.size() + sizeof bits_) damaged_deflate("they end too early");
      uint64_t next = at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_]) : 0;
      bits_ |= next << held_;
      at_++;
      held_ += 8;
    }
  }

  std::string_view bytes_;
  size_t at_ = 0;
  uint64_t bits_ = 0;
  int held_ = 0;
};

// A Huffman code of at most 15 bits.
class HuffmanCode {
 public:
  // The length of each symbol's code; 0 for a symbol that does not occur.
  explicit HuffmanCode(const std::vector<uint8_t>& lengths) {
    unsigned counts[kMostBits + 1] = {}, next[kMostBits + 2] = {};
    for (uint8_t length : lengths) {
      if (length != 0) counts[length]++;
      bits_ = std::max(bits_, static_cast<int>(length));
    }
    for (int length = 1; length <= kMostBits; length++) {
      next[length + 1] = (next[length] + counts[length]) << 1;
      if (next[length] + counts[length] > 1U << length) damaged_deflate("a code has too many words");
    }
    symbols_.assign(size_t{1} << bits_, 0);
    for (size_t symbol = 0; symbol < lengths.size(); symbol++) {
      int length = lengths[symbol];
      if (length != 0) add(static_cast<unsigned>(symbol), length, next[length]++);
    }
  }

  unsigned read(PackedBits& bits) const {
    unsigned entry = symbols_[bits.peek(bits_)];
    if (entry == 0) damaged_deflate("a word is in no code");
    bits.skip(static_cast<int>(entry & 15));
    return entry >> 4;
  }

 private:
  static constexpr int kMostBits = 15;

  // RFC 1951 packs a code's words from their highest bit on, and bits are read from the lowest on. So a word is reversed.
  void add(unsigned symbol, int length, unsigned word) {
    unsigned reversed = 0;
    for (int bit = 0; bit < length; bit++) reversed |= (word >> bit & 1) << (length - 1 - bit);
    for (size_t at = reversed; at < symbols_.size(); at += size_t{1} << length) {
      symbols_[at] = static_cast<uint16_t>(symbol << 4 | static_cast<unsigned>(length));
    }
  }

  int bits_ = 0;
  std::vector<uint16_t> symbols_;  // for each value of the next bits: the symbol, and the length of its word
};

// The two codes at the head of a block of type 2.
inline std::pair<HuffmanCode, HuffmanCode> read_codes(PackedBits& bits) {
  static constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  size_t symbols = bits.take(5) + 257, distances = bits.take(5) + 1, known = bits.take(4) + 4;
  std::vector<uint8_t> of_lengths(std::size(kOrder)), lengths;
  for (size_t i = 0; i < known; i++) of_lengths[kOrder[i]] = static_cast<uint8_t>(bits.take(3));
  const HuffmanCode code(of_lengths);
  while (lengths.size() < symbols + distances) {
    unsigned length = code.read(bits);
    if (length == 16 && lengths.empty()) damaged_deflate("there is no length to repeat");
    if (length < 16) {
      lengths.push_back(static_cast<uint8_t>(length));
    } else if (length == 16) {
      lengths.insert(lengths.end(), 3 + bits.take(2), uint8_t{lengths.back()});
    } else {
      lengths.insert(lengths.end(), length == 17 ? 3 + bits.take(3) : 11 + bits.take(7), uint8_t{0});
    }
  }
  if (lengths.size() > symbols + distances) damaged_deflate("there are too many lengths");
  auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(symbols);
  return {HuffmanCode({lengths.begin(), middle}), HuffmanCode({middle, lengths.end()})};
}

// The fixed codes of a block of type 1.
inline std::pair<HuffmanCode, HuffmanCode> fixed_codes() {
  std::vector<uint8_t> lengths(288, 8);
  std::fill(lengths.begin() + 144, lengths.begin() + 256, uint8_t{9});
  std::fill(lengths.begin() + 256, lengths.begin() + 280, uint8_t{7});
  return {HuffmanCode(lengths), HuffmanCode(std::vector<uint8_t>(30, 5))};
}

// Unpacks exactly `size` bytes.
inline std::string inflate(std::string_view packed, size_t size) {
  static constexpr uint16_t kLengths[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static constexpr uint8_t kLengthBits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static constexpr uint16_t kDistances[] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
                                            193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  std::string unpacked(size, '\0');
  size_t done = 0;
  PackedBits bits(packed);
  for (bool is_last = false; !is_last;) {
    is_last = bits.take(1) != 0;
    unsigned type = bits.take(2);
    if (type == 0) {
      bits.skip_to_byte();
      unsigned length = bits.take(16);
      if ((bits.take(16) ^ 0xffff) != length) damaged_deflate("a block has two lengths");
      if (length > size - done) damaged_deflate("they are longer than announced");
      while (length-- > 0) unpacked[done++] = static_cast<char>(bits.take(8));
      continue;
    }
    if (type == 3) damaged_deflate("a block has an unknown type");
    const auto [symbols, distances] = type == 1 ? fixed_codes() : read_codes(bits);
    for (unsigned symbol; (symbol = symbols.read(bits)) != 256;) {
      if (symbol < 256) {
        if (done == size) damaged_deflate("they are longer than announced");
        unpacked[done++] = static_cast<char>(symbol);
        continue;
      }
      symbol -= 257;
      if (symbol >= std::size(kLengths)) damaged_deflate("a length is unknown");
      size_t length = kLengths[symbol] + bits.take(kLengthBits[symbol]);
      unsigned code = distances.read(bits);
      if (code >= std::size(kDistances)) damaged_deflate("a distance is unknown");
      size_t distance = kDistances[code] + bits.take(code < 2 ? 0 : static_cast<int>(code / 2 - 1));
      if (distance > done) damaged_deflate("a distance is too large");
      if (length > size - done) damaged_deflate("they are longer than announced");
      char* to = &unpacked[done];
      if (distance >= length) {
        memcpy(to, to - distance, length);
      } else {
        for (size_t i = 0; i < length; i++) to[i] = to[i - distance];
      }
      done += length;
    }
  }
  if (done != size) damaged_deflate("they are shorter than announced");
  return unpacked;
}

}  // namespace runner
