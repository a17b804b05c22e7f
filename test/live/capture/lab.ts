// Captured requests on the edge of tests, with a clock of their own and nobody else who hears of traffic.

import type { CaptureDetail } from '../../../src/capture/capture-detail.ts';
import type { RequestCapture } from '../../../src/capture/captured-request.ts';
import { type CaptureState, Captures, withCaptures } from '../../../src/capture/captures.ts';
import { type CapturedEndpoint, targetKey, targetOf } from '../../../src/capture/stored-capture.ts';
import type { VisitorRefusal } from '../../../src/edge/pipeline/rules/refusal.ts';
import type { PipelineServices } from '../../../src/edge/pipeline/services.ts';
import { newId } from '../../../src/store/ids.ts';
import { ACCOUNT, Hearer } from '../reports/lab.ts';

export const HOLD_MS = 30_000;

/** An endpoint, or the name of one that nobody visits. */
type Named = string | CapturedEndpoint;

export interface StartOptions {
  bodyBytes: number;
  redactHeaders: readonly string[];
  minutes: number;
}

export class CaptureLab {
  /** The wall clock. */
  now = 1_795_000_000_000;
  /** The captures that are on, by the keys of their targets. */
  readonly #on = new Map<string, string>();
  /** Of named endpoints that are not of the usual account. */
  readonly #accounts = new Map<string, string>();
  /** The names of endpoints that are live. */
  readonly live = new Set<string>();
  readonly refused: VisitorRefusal[] = [];
  readonly failures: unknown[] = [];
  /** Of events, who wants to hear of nothing. */
  readonly hearer = new Hearer();
  readonly captures: Captures;
  readonly visits: PipelineServices;

  constructor() {
    this.hearer.account = undefined;
    this.captures = new Captures({
      newId: () => newId('cap'),
      time: () => this.now,
      endpoints: {
        byId: () => undefined,
        isServed: (address) => this.live.has(address.slice('http:'.length)),
      },
      holdMs: HOLD_MS,
    });
    this.visits = {
      time: () => ++this.now,
      newOperationId: () => newId('op'),
      logRefusal: (visit) => void this.refused.push(visit),
      logFailure: (error) => void this.failures.push(error),
      reporter: withCaptures(this.hearer, this.captures),
    };
  }

  /** Starts a capture, or changes the one that is on. */
  start(
    endpoint: Named,
    { bodyBytes = 1024, redactHeaders = [], minutes = 60 }: Partial<StartOptions> = {},
    accountId = ACCOUNT,
  ): void {
    if (typeof endpoint === 'string') {
      this.live.add(endpoint);
      this.#accounts.set(endpoint, accountId);
    }
    const target = this.target(endpoint);
    const id = this.#on.get(targetKey(target)) ?? newId('tcap');
    this.#on.set(targetKey(target), id);
    const endsAt = this.now + minutes * 60_000;
    this.captures.apply([id], [{ ...target, id, ownerId: 'usr_1', bodyBytes, redactHeaders, endsAt }]);
  }

  stop(endpoint: Named): void {
    const key = targetKey(this.target(endpoint));
    this.captures.apply([this.#on.get(key) ?? ''], []);
    this.#on.delete(key);
  }

  target = (endpoint: Named) => targetOf(this.#endpoint(endpoint));
  has = (endpoint: Named): boolean => this.captures.has(this.#endpoint(endpoint));
  state = (endpoint: Named): CaptureState => this.captures.state(this.target(endpoint));
  list = (endpoint: Named): RequestCapture[] => this.captures.list(this.target(endpoint));
  observe = (endpoint: Named): CaptureDetail | undefined => this.captures.observe(this.#endpoint(endpoint));

  #endpoint(endpoint: Named): CapturedEndpoint {
    if (typeof endpoint !== 'string') return endpoint;
    const accountId = this.#accounts.get(endpoint) ?? ACCOUNT;
    return { accountId, proto: 'http', hostname: endpoint, port: 80 };
  }

  /** Resolves with the next request that is captured. */
  next(endpoint: Named): Promise<RequestCapture> {
    return new Promise((resolve) => {
      const stop = this.captures.listen(this.target(endpoint), (captured) => {
        stop();
        resolve(captured);
      });
    });
  }

  /** The newest. */
  last(endpoint: Named): RequestCapture {
    const [newest] = this.list(endpoint);
    if (!newest) throw new Error('nothing was captured');
    return newest;
  }
}
