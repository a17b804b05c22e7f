/** What the store needs to be told: where the data is, and the keys to it. */
export interface StoreSettings {
  /** Holds all state of this gateway: the embedded database, the server key. Absolute. */
  dataDir: string;
  /** Undefined: the embedded database in `dataDir`. */
  databaseUrl: string | undefined;
  /** Connections to a server, at the most. */
  databasePool: number;
  /** 32 bytes; undefined: the file in `dataDir`. */
  serverKey: Buffer | undefined;
  /** The key before it, while a rotation is under way. */
  previousServerKey: Buffer | undefined;
}
