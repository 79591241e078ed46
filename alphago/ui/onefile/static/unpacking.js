// The parts of a file: deflated, and as text.

/**
 * @param {string} text base64 of deflated bytes
 * @returns {Promise<Uint8Array>}
 */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * The numbers of little-endian float16 bytes, low bytes first, then all high bytes: so they deflate better.
 * @param {Uint8Array} bytes
 */
export function weightsOf(bytes) {
  const count = bytes.length / 2;
  const numbers = new Float32Array(count);
  for (let i = 0; i < count; i += 1) numbers[i] = half(bytes[i] | (bytes[count + i] << 8));
  return numbers;
}

/** @param {number} bits */
export function half(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return exponent ? sign * (1 + fraction / 1024) * 2 ** (exponent - 15) : (sign * fraction) / 2 ** 24;
}
