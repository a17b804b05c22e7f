// The paths, tabs and breadcrumbs of this screen.

import { edgeRoutePath, objectPath, pathTo } from '../../data/routing/paths.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';
import type { Tab } from '../../ui/layout/tabs.tsx';

export const listPaths = {
  https: pathTo('edges'),
  tls: pathTo('edges', 'tls'),
  backends: pathTo('edges', 'backends'),
  ipPolicies: pathTo('edges', 'ip-policies'),
  authorities: pathTo('edges', 'authorities'),
};

export const tabs: readonly Tab[] = [
  { title: 'HTTPS edges', href: listPaths.https },
  { title: 'TLS edges', href: listPaths.tls },
  { title: 'Tunnel groups', href: listPaths.backends },
  { title: 'IP policies', href: listPaths.ipPolicies },
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

export function newRoutePath(edgeId: string): string {
  return `${objectPath('httpsEdge', edgeId)}/routes/new`;
}

export const edgesCrumb: Breadcrumb = { title: 'Edges', href: listPaths.https };

export interface NamedEdge {
  id: string;
  hostports: readonly string[];
}

/** The display name of an edge: its host names, or its id if it has none. */
export function edgeTitle({ id, hostports }: NamedEdge): string {
  const [first, ...others] = hostports;
  if (first === undefined) return id;
  return others.length > 0 ? `${hostName(first)} and ${others.length} more` : hostName(first);
}

/** The host name without the port, which is always 443. */
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
