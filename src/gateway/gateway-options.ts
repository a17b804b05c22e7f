// The options of a gateway besides its configuration.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ApiOptions } from '../api/server.ts';
import type { Certificates } from '../edge/tls/certificates.ts';
import type { StandInServer } from '../policy/keys/fetch-bytes.ts';
import type { Database } from '../store/database/open-database.ts';
import type { ReservedAddress } from './managed-server.ts';

export interface GatewayOptions extends Pick<ApiOptions, 'onlyYoga' | 'writeStallMs'> {
  log: Logger;
  /** The directory of the migrations. */
  migrations: string;
  /** The directory of the built dashboard, if it was built. */
  dashboard?: string;
  /** The file of what draws the page `/docs`, if it was built. */
  docsRenderer?: string;
  /** The directory of the agent's package, whose bundle devices download. */
  agentPackage?: string;
  /** Called with the reason when the gateway cannot go on; the process has to end. */
  onFatal(text: string): void;
  /** The registry of the metrics; a new one when left out. */
  registry?: Registry;
  /** The wall clock. */
  now?: () => number;
  /** Timeout of a request to an event destination, in milliseconds; the default of the sinks when left out. */
  eventRequestMs?: number;
  /** Time from an evaluation of alert rules to the next, in milliseconds; the usual one when left out. */
  alertPauseMs?: number;
  /** Stands in for the hosts that publish the keys of webhook senders, in tests. */
  signerHosts?: StandInServer;
  /** Stands in for the hosts of OAuth providers, in tests. */
  providerHosts?: StandInServer;
  /** The database, where it is being opened already; left out, the one that the configuration names is opened. */
  database?: Promise<Database>;
  /** The address of the API, where it is reserved already; it is released when the start fails. */
  address?: ReservedAddress | undefined;
  /** The admin listener, where another process has it. */
  admin?: { url: string } | undefined;
  /** The certificates of listeners, where they are opened already; used beside workers. */
  certificates?: Promise<Certificates> | undefined;
  /** Called with every SQL statement. */
  onQuery?: (statement: string) => void;
}
