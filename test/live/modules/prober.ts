// Visits of an edge, by which the tests of modules tell whether a module acts.

import { type EdgeVisitOptions, errorOf, type Listeners, visitEdge } from '../edges/support.ts';

/** Somebody who visits an edge in all the ways that tell whether a module acts. */
export class Prober {
  readonly gateway: Listeners;
  readonly edge: { name: string };

  constructor(gateway: Listeners, edge: { name: string }) {
    this.gateway = gateway;
    this.edge = edge;
  }

  visit(path = '/', options: EdgeVisitOptions = {}) {
    return visitEdge(this.gateway, this.edge, path, options);
  }

  /** The number of the gateway's error, or the status where it is none. */
  async fate(options: EdgeVisitOptions = {}, path = '/'): Promise<number> {
    const answer = await this.visit(path, options);
    return errorOf(answer) ?? answer.status;
  }

  fates(all: EdgeVisitOptions[]): Promise<number[]> {
    return Promise.all(all.map((options) => this.fate(options)));
  }
}
