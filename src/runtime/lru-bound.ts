// How many entries a cache holds.

/**
 * Bounds an `LRUCache` that is rarely full. With `max`, it reserves memory for all its entries when it is made: some 4 MB for 100,000.
 * With these options it grows with what it holds, which takes 16 bytes more for each entry.
 */
export const boundedTo = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
