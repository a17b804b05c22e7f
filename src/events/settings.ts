/**
 * The URLs that replace the clouds' own hosts, by the names that descriptors declare in `endpoints`. Only the operator can set
 * them (for tests and private endpoints), never a tenant.
 */
export type EventEndpoints = Readonly<Record<string, string>>;

/** The settings of event delivery. */
export interface EventSettings {
  eventEndpoints: EventEndpoints;
  /** A PEM file with certificate authorities that are trusted for destinations, besides the public ones. */
  eventCaFile: string | undefined;
  /** The hosts that webhooks may call: names, `*.name` for those below, and networks (CIDR). Empty: none. */
  eventWebhookHosts: string[];
  /** The absolute path of the directory that file destinations write to; undefined: there are none. */
  eventFileDir: string | undefined;
  /** The AWS identity that assumes roles; undefined: roles cannot be used. */
  awsIdentity: { accessKeyId: string; secretAccessKey: string; sessionToken: string | undefined } | undefined;
  /** The most stored bytes that may wait for one destination. Beyond it, the oldest traffic events are dropped. */
  eventBacklogBytes: number;
  /** The most bytes of traffic events in memory. Beyond it, new ones are dropped. */
  eventBufferBytes: number;
  /** How long traffic events and audit events wait at most, in milliseconds. */
  trafficMaxAge: number;
  auditMaxAge: number;
}
