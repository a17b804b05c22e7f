// Defects on demand, for a gateway started with `node --import` of this file: text with the marker cannot be read, and
// SIGUSR2 is an exception that belongs to no connection.

const MARKER = 'defect-here';
const written = Buffer.prototype.toString;

/** @this {Buffer} @type {(encoding?: BufferEncoding, start?: number, end?: number) => string} */
Buffer.prototype.toString = function (encoding, start, end) {
  const text = written.call(this, encoding, start, end);
  if (text.includes(MARKER)) throw new Error('a defect of the test');
  return text;
};

process.on('SIGUSR2', () => {
  throw new Error('a defect of nobody');
});
