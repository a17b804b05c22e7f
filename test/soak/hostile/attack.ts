// What every attack of `npm run soak -- hostile` is: a piece of work that runs beside honest traffic until it is told
// to stop. `main.test.ts` starts the gateway, the honest clients, and each attack in a process of its own.

/** What an attacker knows of the gateway: its listeners, and what one ordinary tenant holds. */
export interface Target {
  /** Base URL of the API listener: `http://127.0.0.1:4000`. */
  api: string;
  /** Host and port of the other listeners. */
  agent: string;
  http: string;
  https: string;
  /** The certificate of the gateway's authority, PEM. */
  ca: string;
  /** The process to look at (`/proc/<pid>`), for its memory. */
  pid: number;
  /** API key and authtoken of a tenant who is not the operator and not the honest account. */
  tenant: { key: string; authtoken: string };
  /** The same of another tenant. */
  rival: { key: string; authtoken: string };
  /** Names below this may be bound: `<anything>.tunnel.localhost`. */
  baseDomain: string;
}

/** Counts of what happened, for the report: `{ sent: 120, refused: 120 }`. */
export type Counts = Record<string, number>;

/**
 * Attacks until the signal aborts, at a bounded rate and with a bounded number of connections; then gives back
 * everything that it opened. Errors that the gateway causes by refusing are counts, not exceptions.
 */
export type Run = (target: Target, signal: AbortSignal) => Promise<Counts>;

/** An attack that needs services of its own publishes them in `prepare`, before any attack begins. */
export type Attack = {
  /** The point of the issue, and what it does: `A1 aliased introspection`. */
  name: string;
} & ({ run: Run } | { prepare(target: Target): Promise<Run> });
