/** The settings of the store: where the data is, and the server key. */
export interface StoreSettings {
  /** The absolute path of the directory for all state of this gateway: the embedded database and the server key. */
  dataDir: string;
  /** The URL of a PostgreSQL server. Undefined: the embedded database in `dataDir`. */
  databaseUrl: string | undefined;
  /**
   * The URL of the same server past a pooler. Undefined: `databaseUrl`. It is for what needs a session of the server: LISTEN, and the
   * lock of migrations.
   */
  databaseDirectUrl: string | undefined;
  /** The URL of the bus between gateways: NATS or Redis. Undefined: LISTEN/NOTIFY of the database server. */
  busUrl: string | undefined;
  /** How long this node's live objects count after the last renewal. Milliseconds. */
  nodeLeaseMs: number;
  /** After how many days an agent is forgotten that has not been seen. */
  agentKeepDays: number;
  /** The most connections to a server. */
  databasePool: number;
  /** 32 bytes; undefined: the file in `dataDir`. */
  serverKey: Buffer | undefined;
  /** The key before it, during a rotation. */
  previousServerKey: Buffer | undefined;
}
