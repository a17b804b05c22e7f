// What carries messages between gateway processes: PostgreSQL's LISTEN/NOTIFY, NATS or Redis. Each is one implementation.

/** What a connection tells its owner. */
export interface BusEvents {
  /** Called with each message of the channel, also with those that this process has sent itself. */
  onMessage(text: string): void;
  /** Called when the connection has ended, once or more often. */
  onLost(): void;
}

/** A connection that is subscribed to the channel. It never reconnects by itself. */
export interface BusConnection {
  /** Sends a message to all that are subscribed now. @throws when it could not be sent; it may have arrived all the same. */
  publish(text: string): Promise<void>;
  /** Ends the connection at once, also one that went silent. */
  close(): void;
}

export interface PeerBus {
  /** As the metrics show it. */
  readonly name: 'postgresql' | 'nats' | 'redis';
  /** The most bytes of a message. */
  readonly maxBytes: number;
  /** Why messages are not heard while there is no connection, as a sentence for operators. */
  readonly lostText: string;
  /** Connects once, and subscribes. It settles within seconds. @throws when that fails; nothing is left open then. */
  connect(events: BusEvents): Promise<BusConnection>;
}
