#include "explore/recorded/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "tensmith/support/error.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's header
constexpr size_t kPiece = size_t{1} << 16;

/// Feeds all of `text` to a stream. `step` (inflate or deflate) is called until it has nothing more to say.
template <typename Step>
void feed(z_stream& stream, std::string_view text, std::string& out, Step step) {
  std::array<char, kPiece> piece;
  bool more = true;
  while (more) {
    const size_t size = std::min<size_t>(text.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(size);
    const bool last = size == text.size();
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = static_cast<uInt>(piece.size());
      more = step(last);
      out.append(piece.data(), piece.size() - stream.avail_out);
    } while (more && (stream.avail_in > 0 || stream.avail_out == 0));
    text.remove_prefix(size - stream.avail_in);
    more = more && !text.empty();
  }
}

std::string gunzip(std::string_view bytes, const std::filesystem::path& path) {
  std::string out;
  // A file may be several members, one after the other.
  while (!bytes.empty()) {
    z_stream stream{};
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw WorkError("zlib cannot start to decompress");
    int status = Z_OK;
    feed(stream, bytes, out, [&](bool) {
      status = inflate(&stream, Z_NO_FLUSH);
      return status == Z_OK;
    });
    const auto used = static_cast<size_t>(stream.total_in);
    const std::string why = stream.msg != nullptr ? stream.msg : "";
    inflateEnd(&stream);
    if (status != Z_STREAM_END) {
      const bool cut = status == Z_OK || status == Z_BUF_ERROR;
      throw UserError(
          fmt::format("{}: {}", path.string(),
                      cut ? "the compressed data ends too early" : "the compressed data is damaged: " + why),
          "fetch or write the file anew");
    }
    bytes.remove_prefix(used);
  }
  return out;
}

}  // namespace

std::string read_maybe_gzip(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  const bool compressed = bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
  return compressed ? gunzip(bytes, path) : bytes;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw WorkError("zlib cannot start to compress");
  }
  std::string out;
  feed(stream, text, out, [&](bool last) { return deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH) == Z_OK; });
  deflateEnd(&stream);
  return out;
}

}  // namespace tensmith
