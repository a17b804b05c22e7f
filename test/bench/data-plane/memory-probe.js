// Loaded into a gateway before it starts (`--import`): collects garbage when asked to, and says what memory is left.

const { gc } = /** @type {{ gc?: () => void }} */ (globalThis);

process.on('message', (message) => {
  if (message !== 'memory' || !gc) return;
  gc();
  // What the first has set free, finalisers give back in a later turn.
  setImmediate(() => {
    gc();
    process.send?.(process.memoryUsage());
  });
});
// To be asked is no reason to live on.
process.channel?.unref();
