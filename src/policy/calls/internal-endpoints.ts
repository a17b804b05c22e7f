// Where the requests of a policy go: to internal endpoints of the account over their tunnels, to servers over the network.

import type { ModuleEnvironment, ModuleOwner } from '../../http/module.ts';
import { OutboundFailed, type OutboundRequest, type OutboundResponse } from '../../http/outbound.ts';
import type { Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { internalNameOf } from './call-url.ts';

/** For whom a request is sent. */
export interface PolicyCaller {
  environment: ModuleEnvironment;
  owner: ModuleOwner;
  visitor: Visitor;
  /** Cancels it. */
  signal: AbortSignal;
}

/** Sends a request where it belongs. @throws {OutboundFailed} as `SendOutbound` does, and for an internal endpoint that is not there. */
export async function sendCall(request: OutboundRequest, caller: PolicyCaller): Promise<OutboundResponse> {
  const { environment, owner, visitor, signal } = caller;
  const { accountId, mayReach = () => true } = owner;
  const name = internalNameOf(request.url);
  if (name === undefined) return environment.sendOutbound(accountId, request, signal);
  // The ACL is checked for each request: it may have changed, and a computed name may depend on the visitor.
  if (!mayReach(name))
    throw new OutboundFailed(`the ACL of the credential has no rule that allows ${name}`, 'internalDenied');
  const { protocol, port } = request.url;
  const address = `${protocol}//${name}${port && `:${port}`}`;
  const endpoint = await unlessAborted(environment.internal(accountId, address), signal);
  if (!endpoint) throw new OutboundFailed(`there is no internal endpoint ${address} online`, 'internalOffline');
  const connect = () => {
    if (!environment.callInternal) throw new OutboundFailed('internal endpoints are not asked from here');
    return environment.callInternal(endpoint, visitor);
  };
  return environment.sendOutbound(accountId, request, signal, connect);
}

/** Whether a request is for an internal endpoint, and would be sent but for where the policy runs: a trial run asks none. */
export function isTrialOnly(request: OutboundRequest, environment: Pick<ModuleEnvironment, 'callInternal'>): boolean {
  return !environment.callInternal && internalNameOf(request.url) !== undefined;
}

/** @throws the reason of the signal when that comes first. */
async function unlessAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  if (!(work instanceof Promise)) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
