// How the memory of this process develops.

const SAMPLE_MS = 500;
const MB = 2 ** 20;

/** Resident memory, in MB, without the first third of the time. */
export interface MemoryFigures {
  first: number;
  most: number;
  /** Per second, of the line that fits best. */
  growth: number;
}

/** Samples it until `end`. */
export function sampleMemory(): { end(): MemoryFigures } {
  const began = performance.now();
  const samples: { at: number; mb: number }[] = [];
  const sample = () =>
    void samples.push({ at: (performance.now() - began) / 1000, mb: process.memoryUsage.rss() / MB });
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    end() {
      clearInterval(timer);
      sample();
      const later = samples.slice(Math.floor(samples.length / 3));
      const mean = (of: (one: { at: number; mb: number }) => number) =>
        later.reduce((sum, one) => sum + of(one), 0) / later.length;
      const [at, mb] = [mean((one) => one.at), mean((one) => one.mb)];
      const growth = mean((one) => (one.at - at) * (one.mb - mb)) / mean((one) => (one.at - at) ** 2);
      const round = (value = 0) => Math.round(value * 10) / 10;
      return {
        first: round(later[0]?.mb),
        most: round(Math.max(...later.map((one) => one.mb))),
        growth: round(growth),
      };
    },
  };
}
