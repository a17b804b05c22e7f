// Captured requests on the edge of tests, with a clock of their own and nobody else who hears of traffic.

import type { RequestCapture } from '../../../src/capture/captured-request.ts';
import { type CaptureOptions, Captures, withCaptures } from '../../../src/capture/captures.ts';
import type { VisitorRefusal } from '../../../src/edge/pipeline/refusal.ts';
import type { PipelineServices } from '../../../src/edge/pipeline/services.ts';
import { newId } from '../../../src/store/ids.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { ACCOUNT, Hearer } from '../reports/lab.ts';

export const HOLD_MS = 30_000;

export class CaptureLab {
  /** The wall clock. */
  now = 1_795_000_000_000;
  /** The ids of endpoints that are live. */
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
      // Of an endpoint it matters here only whether there is one.
      endpoints: { byId: (id) => (this.live.has(id) ? ({ id } as LiveEndpoint) : undefined) },
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

  start(
    endpointId: string,
    { bodyBytes = 1024, redactHeaders = [], minutes = 60 }: Partial<CaptureOptions> = {},
    accountId = ACCOUNT,
  ): void {
    this.live.add(endpointId);
    this.captures.start(endpointId, { accountId, ownerId: 'usr_1' }, { bodyBytes, redactHeaders, minutes });
  }

  /** Resolves with the next request that is captured. */
  next(endpointId: string): Promise<RequestCapture> {
    return new Promise((resolve) => {
      const stop = this.captures.listen(endpointId, (captured) => {
        stop();
        resolve(captured);
      });
    });
  }

  /** The newest. */
  last(endpointId: string): RequestCapture {
    const [newest] = this.captures.list(endpointId);
    if (!newest) throw new Error('nothing was captured');
    return newest;
  }
}
