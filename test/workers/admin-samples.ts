// Whoever asks the admin listener all the time: load balancers and Prometheus, each time on a connection of its own.

import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Between two questions: without it, the processes would do nothing but answer; milliseconds. */
const PAUSE_MS = process.env.SOAK ? 0 : 50;

export interface AdminSamples {
  /** How often each path has answered. */
  readonly answered: Readonly<Record<string, number>>;
  /** Connections that were refused or cut, and answers that are not 200. */
  readonly failures: readonly string[];
  /** Series that count up, and had less than before. */
  readonly decreases: readonly string[];
  /** The largest age of the values of each process, in seconds. */
  readonly ages: Readonly<Record<string, number>>;
  /** Resolves when each path has answered once more, to a question that was asked from now on. */
  more(): Promise<void>;
  stop(): Promise<void>;
}

/** @param admin the base URL of the listener. */
export function sampleAdmin(admin: string): AdminSamples {
  const answered: Record<string, number> = { '/livez': 0, '/readyz': 0, '/metrics': 0 };
  const failures: string[] = [];
  const decreases: string[] = [];
  const ages: Record<string, number> = {};
  const counts = new Map<string, number>();
  let isOver = false;
  const take = (text: string) => {
    const counted = new Set([...text.matchAll(/^# TYPE (\S+) (?:counter|histogram)$/gm)].map(([, name = '']) => name));
    for (const [, series = '', name = '', value = ''] of text.matchAll(/^((\w+)(?:\{.*\})?) (\S+)$/gm)) {
      const process = /^gateway_metrics_age_seconds\{process="(.*)"\}$/.exec(series)?.[1];
      if (process) ages[process] = Math.max(ages[process] ?? 0, Number(value));
      if (!counted.has(name) && !counted.has(name.replace(/_(bucket|sum|count)$/, ''))) continue;
      const before = counts.get(series) ?? 0;
      if (Number(value) < before) decreases.push(`${series}: ${before} → ${value}`);
      counts.set(series, Number(value));
    }
    for (const [series, before] of counts)
      if (!text.includes(`\n${series} `)) decreases.push(`${series}: ${before} → nothing`);
  };
  const ask = async (path: string) => {
    while (!isOver) {
      const answer = await answerOf(admin + path);
      if (answer instanceof Error) failures.push(`${path}: ${answer.message}`);
      else if (answer.status !== 200) failures.push(`${path}: ${answer.status} ${answer.text}`);
      else if (path === '/metrics') take(answer.text);
      answered[path] = (answered[path] ?? 0) + 1;
      await pause(PAUSE_MS);
    }
  };
  const asking = Promise.all(Object.keys(answered).map(ask));
  return {
    ...{ answered, failures, decreases, ages },
    async more() {
      // The next answer may be to a question that is under way.
      const wanted = Object.entries(answered).map(([path, count]) => [path, count + 2] as const);
      while (wanted.some(([path, count]) => (answered[path] ?? 0) < count)) await pause(PAUSE_MS);
    },
    async stop() {
      isOver = true;
      await asking;
    },
  };
}

function answerOf(url: string): Promise<{ status: number | undefined; text: string } | Error> {
  return new Promise((resolve) => {
    get(url, { agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, text })).on('error', resolve);
    }).on('error', resolve);
  });
}
