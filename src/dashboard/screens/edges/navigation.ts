// The addresses of this screen, and what stands beside each other in it.

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

/** Where a new one of a list is made. */
export function newPath(list: string): string {
  return `${list}/new`;
}

/** Where a module is: `host` is the address of its edge or route. */
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

/** What an edge is called: its names, or its id as long as it has none. */
export function edgeTitle({ id, hostports }: NamedEdge): string {
  const [first, ...others] = hostports;
  if (first === undefined) return id;
  return others.length > 0 ? `${hostName(first)} and ${others.length} more` : hostName(first);
}

/** Every edge answers on port 443, so that it need not be said. */
export function hostName(hostport: string): string {
  return hostport.replace(/:443$/, '');
}

export function httpsCrumbs(edge: NamedEdge): Breadcrumb[] {
  return [edgesCrumb, { title: edgeTitle(edge), href: objectPath('httpsEdge', edge.id) }];
}

export function routeCrumbs(edge: NamedEdge, route: { id: string; match: string }): Breadcrumb[] {
  return [...httpsCrumbs(edge), { title: route.match, href: edgeRoutePath(edge.id, route.id) }];
}

/** What a visitor would ask for at an edge, and below a path of it. */
export function exampleUrl({ hostports: [first] }: { hostports: readonly string[] }, path = '/'): string {
  return `https://${first ? hostName(first).replace(/^\*\./, 'any.') : 'app.example.com'}${path}`;
}
