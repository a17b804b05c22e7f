// The paths, tabs and breadcrumbs of this screen.

import { edgeRoutePath, objectPath, pathTo } from '../../data/routing/paths.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';
import type { Tab } from '../../ui/layout/tabs.tsx';

export const listPaths = {
  https: pathTo('edges'),
  tls: pathTo('edges', 'tls'),
  tcp: pathTo('edges', 'tcp'),
  cloud: pathTo('edges', 'cloud'),
  backends: pathTo('edges', 'backends'),
  weighted: pathTo('edges', 'backends', 'weighted'),
  failover: pathTo('edges', 'backends', 'failover'),
  responses: pathTo('edges', 'backends', 'responses'),
  static: pathTo('edges', 'backends', 'static'),
  ipPolicies: pathTo('edges', 'ip-policies'),
  restrictions: pathTo('edges', 'ip-restrictions'),
  vaults: pathTo('edges', 'vaults'),
  authorities: pathTo('edges', 'authorities'),
};

export const tabs: readonly Tab[] = [
  { title: 'HTTPS edges', href: listPaths.https },
  { title: 'TLS edges', href: listPaths.tls },
  { title: 'TCP edges', href: listPaths.tcp },
  { title: 'Cloud endpoints', href: listPaths.cloud },
  { title: 'Backends', href: listPaths.backends, hasTabs: true },
  { title: 'IP policies', href: listPaths.ipPolicies },
  { title: 'IP restrictions', href: listPaths.restrictions },
  { title: 'Vaults', href: listPaths.vaults },
  { title: 'Certificate authorities', href: listPaths.authorities },
];

/** The path of the form for a new object of a list. */
export function newPath(list: string): string {
  return `${list}/new`;
}

/** The path of a module. @param host the path of its edge or route. */
export function modulePath(host: string, field: string): string {
  return `${host}/modules/${field}`;
}

/** The form for an edge alone, without a backend. */
export const emptyEdgePath = pathTo('edges', 'new', 'empty');

/** That form for a TCP edge, which begins without a backend. */
export const newTcpEdgePath = `${emptyEdgePath}?kind=tcp`;

/** The kinds of edges, and the lists of each. */
export type EdgeKind = 'httpsEdge' | 'tlsEdge' | 'tcpEdge';
export const edgeLists: Record<EdgeKind, string> = {
  httpsEdge: listPaths.https,
  tlsEdge: listPaths.tls,
  tcpEdge: listPaths.tcp,
};

/** The page that leads from a new edge to its first visitor. @param domainId the domain that its name comes under. */
export function startPath(kind: 'httpsEdge' | 'tlsEdge', id: string, domainId: string): string {
  return `${objectPath(kind, id)}/start?domain=${encodeURIComponent(domainId)}`;
}

/** The page that changes a cloud endpoint. That of its traffic is `objectPath('endpoint', id)`. */
export function cloudEndpointPath(id: string): string {
  return pathTo('edges', 'cloud', id);
}

/** How a cloud endpoint is called on its pages: its URL, without the scheme where that is `https`. */
export function cloudTitle(url: string): string {
  return url.replace(/^https:\/\//, '');
}

export function newRoutePath(edgeId: string): string {
  return `${objectPath('httpsEdge', edgeId)}/routes/new`;
}

export const edgesCrumb: Breadcrumb = { title: 'Edges', href: listPaths.https };

export interface NamedEdge {
  id: string;
  hostports: readonly string[];
  description?: string;
}

/** The display name of an edge: its host names or TCP addresses, or else its description or its id. */
export function edgeTitle({ id, hostports, description }: NamedEdge): string {
  const [first, ...others] = hostports;
  if (first === undefined) return description || id;
  return others.length > 0 ? `${hostName(first)} and ${others.length} more` : hostName(first);
}

/** The host name without the port, which is always 443; a TCP address as it is. */
export function hostName(hostport: string): string {
  return hostport.replace(/:443$/, '');
}

export function httpsCrumbs(edge: NamedEdge): Breadcrumb[] {
  return [edgesCrumb, { title: edgeTitle(edge), href: objectPath('httpsEdge', edge.id) }];
}

export function routeCrumbs(edge: NamedEdge, route: { id: string; match: string }): Breadcrumb[] {
  return [...httpsCrumbs(edge), { title: route.match, href: edgeRoutePath(edge.id, route.id) }];
}

/** A URL that a visitor could request at an edge. */
export function exampleUrl({ hostports: [first] }: { hostports: readonly string[] }, path = '/'): string {
  return `https://${first ? hostName(first).replace(/^\*\./, 'any.') : 'app.example.com'}${path}`;
}
