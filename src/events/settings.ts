import { readCidr } from '../net/networks.ts';

/**
 * Where requests of sinks go in place of the clouds' own hosts, by the names that descriptors declare in `endpoints`. It is
 * an operator's choice (tests, private endpoints), never a tenant's.
 */
export type EventEndpoints = Readonly<Record<string, string>>;

/** Whether it is a name, `*.name`, or a network. */
export function isHostRule(text: string): boolean {
  return (
    readCidr(text) !== undefined ||
    /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(text)
  );
}

/** What delivery of events needs to be told. */
export interface EventSettings {
  eventEndpoints: EventEndpoints;
  /** A file of PEM: authorities that destinations may have their certificates from, besides the usual ones. */
  eventCaFile: string | undefined;
  /** Whom webhooks may go to: names, `*.name` for those below, and networks (CIDR). None: nobody. */
  eventWebhookHosts: string[];
  /** Where file destinations write; undefined: there are none. Absolute. */
  eventFileDir: string | undefined;
  /** With which AWS identity roles are assumed; undefined: with none, so that roles cannot be used. */
  awsIdentity: { accessKeyId: string; secretAccessKey: string; sessionToken: string | undefined } | undefined;
  /** Bytes that may wait for one destination, as they are stored. The oldest traffic events are dropped beyond it. */
  eventBacklogBytes: number;
  /** Bytes of traffic events that may be in memory. New ones are dropped beyond it. */
  eventBufferBytes: number;
  /** How long events wait at most; milliseconds. */
  trafficMaxAge: number;
  auditMaxAge: number;
}
