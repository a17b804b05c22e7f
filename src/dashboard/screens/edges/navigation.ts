// The addresses of this screen, and what stands beside each other in it.

import { edgeRoutePath, objectPath, pathTo } from '../../data/routing/paths.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';
import type { Tab } from '../../ui/layout/tabs.tsx';

export const lists = {
  https: pathTo('edges'),
  tls: pathTo('edges', 'tls'),
  backends: pathTo('edges', 'backends'),
  ipPolicies: pathTo('edges', 'ip-policies'),
  authorities: pathTo('edges', 'authorities'),
};

export const tabs: readonly Tab[] = [
  { title: 'HTTPS edges', href: lists.https },
  { title: 'TLS edges', href: lists.tls },
  { title: 'Tunnel groups', href: lists.backends },
  { title: 'IP policies', href: lists.ipPolicies },
  { title: 'Certificate authorities', href: lists.authorities },
];

/** Where a new one of a list is made. */
export function newIn(list: string): string {
  return `${list}/new`;
}

/** Where a module is: `host` is the address of its edge or route. */
export function moduleAt(host: string, field: string): string {
  return `${host}/modules/${field}`;
}

export function newRouteAt(edgeId: string): string {
  return `${objectPath('httpsEdge', edgeId)}/routes/new`;
}

export const edgesCrumb: Breadcrumb = { title: 'Edges', href: lists.https };

export interface Named {
  id: string;
  hostports: readonly string[];
}

/** What an edge is called: its names, or its id as long as it has none. */
export function edgeTitle({ id, hostports }: Named): string {
  const [first, ...others] = hostports;
  if (first === undefined) return id;
  return others.length > 0 ? `${nameOf(first)} and ${others.length} more` : nameOf(first);
}

/** Every edge answers on port 443, so that it need not be said. */
export function nameOf(hostport: string): string {
  return hostport.replace(/:443$/, '');
}

export function httpsCrumbs(edge: Named): Breadcrumb[] {
  return [edgesCrumb, { title: edgeTitle(edge), href: objectPath('httpsEdge', edge.id) }];
}

export function routeCrumbs(edge: Named, route: { id: string; match: string }): Breadcrumb[] {
  return [...httpsCrumbs(edge), { title: route.match, href: edgeRoutePath(edge.id, route.id) }];
}

/** What a visitor would ask for at an edge, and below a path of it. */
export function visitOf({ hostports: [first] }: { hostports: readonly string[] }, path = '/'): string {
  return `https://${first ? nameOf(first).replace(/^\*\./, 'any.') : 'app.example.com'}${path}`;
}
