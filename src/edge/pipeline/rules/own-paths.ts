// Who answers the gateway's own paths where visitors sign in, such as that of a log-in: each sign-in what belongs to it.

import type { HttpModule } from '../../../http/module.ts';
import { ownPathOf, returnPath } from '../../../policy/sign-in/requests.ts';
import { answerLeftPath, ownPathParameter } from '../../../policy/sign-in/sign-in.ts';
import type { HttpRoute } from './endpoint-rules.ts';
import { ModuleChain } from './module-chain.ts';

/** Stands behind the last sign-in: nothing of the gateway's own paths goes on to the service. */
export const ownPathsEnd: HttpModule = { name: 'sign_in', onRequest: answerLeftPath };

/** A route at which visitors sign in. */
export interface SigningRoute extends HttpRoute {
  readonly signIns: readonly HttpModule[];
}

/**
 * The route of a request for one of the gateway's own paths at an edge, whose routes are for other paths, as a rule. Where several
 * sign visitors in, each is asked, without its other modules: nothing is let in here, and all of them act on what comes later.
 * @param routeOf finds the route of another path of the edge.
 * @returns undefined for other targets.
 */
export function ownPathRoute(
  target: string,
  routes: readonly SigningRoute[],
  routeOf: (target: string) => unknown,
): HttpRoute | undefined {
  if (routes.length === 0 || ownPathOf(target) === undefined) return undefined;
  if (routes.length === 1) return routes[0];
  // A log-in is that of the page that the visitor wants to come back to.
  const wanted = routeOf(returnPath(ownPathParameter(target, 'redirect_path') ?? '/'));
  const inOrder = routes.toSorted((one, other) => Number(other === wanted) - Number(one === wanted));
  const chain = new ModuleChain([...inOrder.flatMap(({ signIns }) => signIns), ownPathsEnd]);
  return { chain, convertsWebsockets: false, upstream: () => 'signInNotHere' };
}

/** The sign-ins among the modules of a route, each without what it does to responses. */
export function signInsOf(modules: readonly HttpModule[]): HttpModule[] {
  const signing = modules.filter(({ signsIn }) => signsIn);
  return signing.map((module) => ({ name: module.name, onRequest: (exchange) => module.onRequest?.(exchange) }));
}
