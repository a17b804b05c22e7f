// Calls to other nodes: to one of them, or to all at once.

import { waitAtMost } from '../runtime/wait-at-most.ts';
import type { NodeSource } from '../tunnel/control/nodes.ts';
import type { NodeRef } from '../tunnel/control/routes.ts';
import type { NodeLinks } from './node-links.ts';

/** How long all nodes together may take to answer, in milliseconds. */
export const ANSWER_LIMIT_MS = 1000;

/** What other nodes have answered. */
export interface Answers<T> {
  /** The answers by node id. */
  answers: ReadonlyMap<string, T>;
  /** The ids of the nodes that did not answer in time, or could not. */
  silent: readonly string[];
}

export interface ClusterCallsDeps {
  nodes: NodeSource;
  links: Pick<NodeLinks, 'peer'>;
  /** Whether a node is another worker of this machine. */
  isOfMachine(nodeId: string): boolean;
}

export class ClusterCalls {
  readonly #deps: ClusterCallsDeps;

  constructor(deps: ClusterCallsDeps) {
    this.#deps = deps;
  }

  /**
   * Calls a method of one node.
   * @returns undefined when there is no link to it: nothing has reached it then.
   * @throws {CallError} when it does not answer in time, or with an error.
   */
  async call({ id, address }: NodeRef, method: string, body: object, timeoutMs: number): Promise<object | undefined> {
    const link = await this.#deps.links.peer(id, address).link();
    return link?.call(method, body, timeoutMs);
  }

  /** Calls a method of all other nodes at once. It takes `limitMs` at most, and never rejects. */
  async callAll<T extends object>(method: string, body: object, limitMs = ANSWER_LIMIT_MS): Promise<Answers<T>> {
    return this.#callEach(await this.#deps.nodes.otherNodes(), method, body, limitMs);
  }

  /** The same of the other workers of this machine. */
  async callMachine(method: string, body: object): Promise<void> {
    const nodes = await this.#deps.nodes.otherNodes();
    const workers = nodes.filter(({ id }) => this.#deps.isOfMachine(id));
    await this.#callEach(workers, method, body, ANSWER_LIMIT_MS);
  }

  async #callEach<T extends object>(
    nodes: readonly NodeRef[],
    method: string,
    body: object,
    limitMs: number,
  ): Promise<Answers<T>> {
    const answers = new Map<string, T>();
    const calls = nodes.map(async (node) => {
      const answer = await this.call(node, method, body, limitMs).catch(() => undefined); // The node is silent.
      if (answer) answers.set(node.id, answer as T);
    });
    await waitAtMost(limitMs, Promise.all(calls));
    return {
      answers: new Map(answers),
      silent: nodes.flatMap(({ id }) => (answers.has(id) ? [] : id)),
    };
  }
}
