// The modules of an endpoint or a route, one behind the other.

import type { HttpExchange } from '../../../http/exchange.ts';
import type { HttpModule, UpstreamOutcome, Verdict } from '../../../http/module.ts';
import { isAmbiguousPath, pathOfTarget } from '../../../http/path.ts';

/** How far one exchange has come. */
export interface ChainProgress {
  /** Modules whose request side is behind it; their response sides are still to come, the last one first. */
  passed: number;
  /** What the modules were told of upstream; undefined as long as that is open. */
  outcome?: UpstreamOutcome;
}

/** How often a request or a connection may be sent from one endpoint to another. */
export const HOPS_MAX = 8;

/** One of the chains that a request passes, one for each endpoint that it is forwarded to. */
export interface ForwardHop extends ChainProgress {
  chain: ModuleChain;
}

/** What a module said, and which. */
export interface Decision {
  module: HttpModule;
  /** Its place in the chain. */
  at: number;
  verdict: NonNullable<Verdict>;
}

/**
 * Requests pass the modules in order, answers in reverse. The answer of a module passes its own response side and those of
 * the modules before it; an error of the gateway passes none. Nothing waits unless a module does.
 */
export class ModuleChain {
  readonly #modules: readonly HttpModule[];
  readonly #readsPath: boolean;

  /** @param modules the outermost first. */
  constructor(modules: readonly HttpModule[]) {
    this.#modules = modules;
    this.#readsPath = modules.some(({ readsPath }) => readsPath);
  }

  /** Whether a module goes by the path of the target, in origin-form, and the upstream may read another one. */
  isMisled(target: string): boolean {
    return this.#readsPath && isAmbiguousPath(pathOfTarget(target));
  }

  /** @returns undefined when all let it pass, or it was over while one of them made up its mind: the others never see it. */
  request(exchange: HttpExchange, passage: ChainProgress): Decision | undefined | Promise<Decision | undefined> {
    for (let at = passage.passed; at < this.#modules.length; at++) {
      const module = this.#modules[at] as HttpModule;
      const verdict = module.onRequest?.(exchange);
      if (verdict instanceof Promise) {
        return verdict.then((later) => {
          passage.passed = at + 1;
          if (passage.outcome !== undefined) return void module.onOutcome?.(exchange, passage.outcome);
          return later ? { module, at, verdict: later } : this.request(exchange, passage);
        });
      }
      passage.passed = at + 1;
      if (verdict) return { module, at, verdict };
    }
    return undefined;
  }

  /**
   * @param from how many modules it is to pass: those before the one that has given another answer.
   * @returns undefined when the answer may go on.
   */
  response(
    exchange: HttpExchange,
    passage: ChainProgress,
    from = passage.passed,
  ): Decision | undefined | Promise<Decision | undefined> {
    for (let at = from - 1; at >= 0; at--) {
      const module = this.#modules[at] as HttpModule;
      const verdict = module.onResponse?.(exchange);
      if (verdict instanceof Promise)
        return verdict.then((later) => (later ? { module, at, verdict: later } : this.response(exchange, passage, at)));
      if (verdict) return { module, at, verdict };
    }
    return undefined;
  }

  /** Tells what upstream did. */
  settle(exchange: HttpExchange, passage: ChainProgress, outcome: UpstreamOutcome): void {
    passage.outcome = outcome;
    for (let at = 0; at < passage.passed; at++) this.#modules[at]?.onOutcome?.(exchange, outcome);
  }
}
