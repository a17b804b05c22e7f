// What `/metrics` of a gateway says.

export interface Samples {
  text: string;
  /** Names of metrics as they are declared; of a histogram without the ends of its series' names. */
  names: Set<string>;
  /** The value of a series whose labels have at least these; 0 where there is none. */
  value(name: string, labels?: Record<string, string>): number;
  /** All series of a name. */
  series(name: string): { labels: Record<string, string>; value: number }[];
}

/** Collects the metrics once. @param admin the base URL of the admin listener. */
export async function samples(admin: string): Promise<Samples> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const series = (name: string) =>
    text.split('\n').flatMap((line) => {
      const [, own, inner = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (own !== name) return [];
      const labels = Object.fromEntries([...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text]));
      return { labels, value: Number(value) };
    });
  return {
    text,
    names: new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name)),
    series,
    value: (name, wanted = {}) =>
      series(name).find(({ labels }) => Object.entries(wanted).every(([key, text]) => labels[key] === text))?.value ??
      0,
  };
}
