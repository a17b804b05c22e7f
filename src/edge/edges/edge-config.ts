// What the public side asks of the control plane: the edges that are configured, which certificates names have, and the challenges of
// certificate authorities.

import type { Labels, Proto } from '../../tunnel/endpoints/endpoint.ts';
import type { ChallengeRequest } from '../acme-challenges.ts';
import type { ModulesSettings } from '../modules/descriptor.ts';

/** The ports that URLs show; 80 and 443 are left out. */
export interface PublicPorts {
  publicHttpPort: number;
  publicHttpsPort: number;
}

/** Where traffic goes. */
export interface BackendConfig {
  enabled: boolean;
  /** Of a tunnel group. Others have a label here that no tunnel has, which is all that a worker of a version before knows. */
  labels: Labels;
  /** Of any other kind of backend; undefined also of a control process of a version before, which knows tunnel groups only. */
  choice?: BackendChoice;
}

/** A backend that sends traffic to others, with all that it leads to. They may be named more than once, so it is no tree. */
export interface BackendChoice {
  /** The id of the backend where each visit begins. */
  root: string;
  nodes: Readonly<Record<string, BackendNode>>;
}

/** One backend of those that a choice leads to. A worker of a version before takes a kind that it does not know for offline. */
export type BackendNode =
  | { kind: 'tunnels'; labels: Labels }
  /** One of the members that are online, by the share of its weight, 0 to 10000; 0 is never chosen. */
  | { kind: 'weighted'; members: readonly { id: string; weight: number }[] }
  /** The first of the members that is online. */
  | { kind: 'failover'; members: readonly string[] }
  /** A place that the gateway connects to itself, with TLS or without; a host is a name, or an address without brackets. */
  | { kind: 'address'; host: string; port: number; tls: boolean }
  /** The gateway answers by itself. */
  | { kind: 'response'; status: number; headers: Readonly<Record<string, string>>; body: string };

export interface RouteConfig {
  /** `edghtsrt_…` */
  id: string;
  matchType: 'exact_path' | 'path_prefix';
  match: string;
  backend: BackendConfig | undefined;
  modules: ModulesSettings;
  /** Of a cloud endpoint, which has no backend: its policy answers, and nobody else. */
  isCloud?: boolean;
  /** Why it cannot be served: something that was stored cannot be read any more. */
  failure?: string;
}

export interface AnsweredName {
  hostname: string;
  /** 443, or the port of a TCP address. Undefined of a control process of a version before, which knows no TCP edges. */
  port?: number;
  endpointId: string;
}

/** The address of a cloud endpoint. */
export interface CloudAddress {
  /** '' as long as it is none in the API. */
  endpointId: string;
  proto: Proto;
  /** Lower case; internal ones end with `.internal`. */
  hostname: string;
  /** As its URL has it: 80, 443, or the port of a TCP address or of an internal endpoint. */
  port: number;
  /** Whether others that are pooled serve it, too. */
  isPooled: boolean;
}

interface CommonConfig {
  /** `edghts_…`, `edgtls_…`, `edgtcp_…`, or `edgcld_…` of a cloud endpoint. */
  id: string;
  accountId: string;
  /** What it answers: names in lower case with their ports, and the endpoint that each is in the API; '' as long as it is none. */
  names: AnsweredName[];
  /** What a cloud endpoint answers, which has no names: a worker of a version before, which knows names alone, leaves it to others. */
  cloud?: CloudAddress;
  /** The edge's own; routes have others. */
  modules: ModulesSettings;
  /** Why it cannot be served: something that was stored cannot be read any more. */
  failure?: string;
}

export interface HttpsEdgeConfig extends CommonConfig {
  /** Also of a cloud endpoint of `http`. */
  kind: 'https';
  routes: RouteConfig[];
}

/** An edge that sends whole connections to its backend. */
export interface ConnectionEdgeConfig extends CommonConfig {
  kind: 'tls' | 'tcp';
  backend: BackendConfig | undefined;
}

export type EdgeConfig = HttpsEdgeConfig | ConnectionEdgeConfig;

/** What its visitors speak. */
export const protoOf = ({ kind, cloud }: EdgeConfig): Proto => cloud?.proto ?? kind;

/** The certificate of a reserved domain, uploaded or obtained, or one of the gateway's own names. */
export interface DomainCertificate {
  /** `rd_…`; of the gateway's own names, the id of the certificate: `cert_…`. */
  domainId: string;
  /** '' for the gateway's own names. */
  accountId: string;
  /** Lower case; a wildcard begins with `*.`. */
  domain: string;
  cert: string;
  key: string;
  /** In milliseconds since 1970. Undefined of a control process of a version before, which does not tell. */
  notAfter?: number;
}

export interface EdgeConfigs {
  /** What was looked at; null: all edges. Those of them that are not among `edges` are gone, or have no name. */
  edgeIds: readonly string[] | null;
  edges: EdgeConfig[];
  /** What was looked at; null: all domains. Those of them that are not among `certificates` have none. */
  domainIds: readonly string[] | null;
  certificates: DomainCertificate[];
  /** All further names that agents connect to; undefined where they were not looked at. */
  agentNames?: readonly string[] | undefined;
  /** To be called once it is live. Until then the same objects may be asked for again. */
  applied(): void;
}

export interface EdgeConfigSource {
  /** What is configured now of all that is made of these objects; null: everything. */
  load(ids: readonly string[] | null): Promise<EdgeConfigs>;
  /**
   * Hears which objects, of those that edges and certificates are made of, may have changed (null: any). Where the change
   * was made on this node it is not answered before the promise is settled. Ends with the returned function.
   */
  onChange(listener: (ids: readonly string[] | null) => Promise<void>): () => void;
  /** The answer to a challenge of a certificate authority; undefined when none is expected. */
  findChallenge(request: ChallengeRequest): Promise<string | undefined>;
  /** The account whose service may answer challenges for a name; undefined: nobody's may. */
  challengeHolder(name: string): Promise<string | undefined>;
}
