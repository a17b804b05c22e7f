// What the public side asks of the control plane: the edges that are configured, and which certificates names have.

import type {
  ConnectionModuleSettings,
  HttpModuleSettings,
  MutualTlsSettings,
  TlsTerminationSettings,
} from '../modules/settings.ts';

/** A tunnel group that traffic goes to. */
export interface BackendConfig {
  enabled: boolean;
  labels: Readonly<Record<string, string>>;
}

export interface RouteConfig {
  /** `edghtsrt_…` */
  id: string;
  matchType: 'exact_path' | 'path_prefix';
  match: string;
  backend: BackendConfig | undefined;
  modules: HttpModuleSettings;
  /** Why it cannot be served: something that was stored cannot be read any more. */
  failure?: string;
}

interface CommonConfig {
  /** `edghts_…`, `edgtls_…` */
  id: string;
  accountId: string;
  /** The names that it answers, in lower case, and the endpoint that each is in the API; '' as long as it is none. */
  names: { hostname: string; endpointId: string }[];
  mutualTls: MutualTlsSettings | undefined;
  tlsTermination: TlsTerminationSettings | undefined;
  /** Why it cannot be served: something that was stored cannot be read any more. */
  failure?: string;
}

export interface HttpsEdgeConfig extends CommonConfig {
  kind: 'https';
  routes: RouteConfig[];
}

export interface TlsEdgeConfig extends CommonConfig {
  kind: 'tls';
  backend: BackendConfig | undefined;
  modules: ConnectionModuleSettings;
}

export type EdgeConfig = HttpsEdgeConfig | TlsEdgeConfig;

/** The certificate that somebody uploaded for a reserved domain. */
export interface DomainCertificate {
  accountId: string;
  /** Lower case; a wildcard begins with `*.`. */
  domain: string;
  cert: string;
  key: string;
}

export interface SiteConfigs {
  edges: EdgeConfig[];
  certificates: DomainCertificate[];
}

export interface SiteSource {
  /** All that these accounts have configured, edges without a name left out; null: all accounts. */
  load(accountIds: readonly string[] | null): Promise<SiteConfigs>;
  /**
   * Hears when what these accounts (null: any) have configured may have changed. Where the change was made on this node it
   * is not answered before the promise is settled. Ends with the returned function.
   */
  onChange(listener: (accountIds: readonly string[] | null) => Promise<void>): () => void;
}
