// Which requests are replays: told by the address that they come from, so that nothing of it is in the request.

import type { Visitor } from '../tunnel/endpoints/endpoint.ts';
import type { Captured } from './captured-request.ts';

/** A replay that is under way. */
export interface ReplayUnderWay {
  /** Of the request that it repeats. */
  readonly id: string;
  onCaptured(captured: Captured): void;
}

type Address = Pick<Visitor, 'ip' | 'port'>;

export class Replayed {
  readonly #underWay = new Map<string, ReplayUnderWay>();

  get size(): number {
    return this.#underWay.size;
  }

  by(visitor: Address | undefined): ReplayUnderWay | undefined {
    return visitor && this.#underWay.size > 0 ? this.#underWay.get(keyOf(visitor)) : undefined;
  }

  /** What comes from the address is the replay, until the returned function is called. */
  comesFrom(address: Address, replay: ReplayUnderWay): () => void {
    const key = keyOf(address);
    this.#underWay.set(key, replay);
    return () => this.#underWay.delete(key);
  }
}

const keyOf = ({ ip, port }: Address) => `${ip} ${port}`;
