// The metrics of all processes of one gateway, as sums.

import { AggregatorRegistry, type Registry } from 'prom-client';
import type { CallChannel } from '../control/call-channel.ts';
import type { WorkerCalls } from '../control/calls.ts';

/** How long workers may take to answer, in milliseconds. */
const ANSWER_LIMIT_MS = 2000;

type Channel = CallChannel<WorkerCalls>;
interface MetricJson {
  type: string;
}

export class WorkerMetrics {
  readonly #own: Registry;
  readonly #channels: () => readonly Channel[];
  /** What each worker told last: its counts go on to be a part of the sums when it has ended. */
  readonly #last = new Map<Channel, MetricJson[]>();
  #ended: MetricJson[] = [];
  #collecting: Promise<string> | undefined;

  /** @param own the metrics of this process. @param channels of the workers that are connected. */
  constructor(own: Registry, channels: () => readonly Channel[]) {
    this.#own = own;
    this.#channels = channels;
  }

  get contentType(): Registry['contentType'] {
    return this.#own.contentType;
  }

  /**
   * The sums, in the text format of Prometheus. Of a worker that does not answer, they have what it told before. Concurrent calls share
   * one collection, so that a worker that has ended is added once.
   */
  metrics(): Promise<string> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = undefined;
    });
    return this.#collecting;
  }

  async #collect(): Promise<string> {
    const own = await this.#own.getMetricsAsJSON();
    const channels = this.#channels();
    await Promise.all(channels.map((channel) => this.#ask(channel)));
    for (const [channel, metrics] of this.#last) {
      if (channels.includes(channel)) continue;
      this.#last.delete(channel);
      const counts = metrics.filter(({ type }) => type === 'counter' || type === 'histogram');
      this.#ended =
        this.#ended.length === 0
          ? counts
          : ((await sumOf([this.#ended, counts]).getMetricsAsJSON()) as unknown as MetricJson[]);
    }
    return sumOf([own, ...this.#last.values(), this.#ended]).metrics();
  }

  async #ask(channel: Channel): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, ANSWER_LIMIT_MS, undefined);
    });
    const told = await Promise.race([channel.call('metrics').catch(() => undefined), late]);
    clearTimeout(timer);
    if (told) this.#last.set(channel, told as MetricJson[]);
  }
}

const sumOf = (parts: readonly object[]) => AggregatorRegistry.aggregate(parts as object[]) as unknown as Registry;
