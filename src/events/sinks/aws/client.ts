// Requests to AWS through its SDK. It takes 20 MB, and so is loaded only when a destination needs it.

import type { NodeHttpHandler } from '@smithy/node-http-handler';
import type { SinkContext } from '../descriptor.ts';
import type { Outbound } from '../http/outbound.ts';
import { SinkError } from '../sink.ts';
import type { AwsTargetAuth } from './auth.ts';
import { awsFailure, isExpiredSession } from './errors.ts';
import { type AwsKeys, identityOf, type RoleRequest } from './identity.ts';

const CONNECT_TIMEOUT_MS = 3000;
const REQUEST_TIMEOUT_MS = 10_000;

export interface AwsOptions {
  /** How long to wait until a response begins, in milliseconds. Default: 10 seconds. */
  timeoutMs?: number;
}

/** The configuration of every client. It sets everything that the SDK would read from the environment or from files. */
export interface ClientSettings {
  region: string;
  credentials: AwsKeys;
  /** Undefined: the service's own. */
  endpoint: string | undefined;
  ignoreConfiguredEndpointUrls: true;
  useFipsEndpoint: false;
  useDualstackEndpoint: false;
  retryMode: 'standard';
  maxAttempts: 1;
  /** Set for every service, because by default a client may use HTTP/2 over connections of its own. */
  requestHandler: NodeHttpHandler;
}

export interface AwsClient<Client> {
  /**
   * Makes a request as the identity of the target.
   * @param call passes the options on, so that the request ends with `signal`.
   * @throws {SinkError}
   */
  send<Answer>(
    signal: AbortSignal,
    call: (client: Client, options: { abortSignal: AbortSignal }) => Promise<Answer>,
  ): Promise<Answer>;
}

export interface AwsEndpoint {
  /** Its name in `EVENT_ENDPOINTS`. */
  service: string;
  /** The region of the target's ARN. */
  region: string;
}

/**
 * A client of one service for one target. It needs no closing: its connections belong to the shared agents, and the SDK's
 * `destroy` would end the requests of other sinks.
 * @param make creates a client of the service.
 */
export async function openAws<Client>(
  { service, region }: AwsEndpoint,
  auth: AwsTargetAuth,
  parts: SinkContext,
  options: AwsOptions,
  make: (settings: ClientSettings) => Client,
): Promise<AwsClient<Client>> {
  const { settings, outbound } = parts;
  const requestHandler = await handlerOf(outbound, options);
  const settingsOf = (service: string, credentials: AwsKeys): ClientSettings => ({
    region,
    credentials,
    endpoint: settings.eventEndpoints[service],
    ignoreConfiguredEndpointUrls: true,
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    retryMode: 'standard',
    maxAttempts: 1,
    requestHandler,
  });
  const identity = identityOf(auth, { ...parts, own: settings.awsIdentity }, (own, role, signal) =>
    assumeRole(settingsOf('sts', own), role, signal),
  );

  let current: { keys: AwsKeys; client: Client } | undefined;
  return {
    async send(signal, call) {
      const keys = await identity.keys(signal);
      if (current?.keys !== keys) current = { keys, client: make(settingsOf(service, keys)) };
      try {
        return await call(current.client, { abortSignal: signal });
      } catch (error) {
        const failure = awsFailure(error, parts.now());
        // A session can be revoked before it expires, which AWS reports in several ways.
        const isRenewed = failure.kind === 'config' && identity.forget();
        throw isRenewed && isExpiredSession(failure) ? new SinkError('retry', failure) : failure;
      }
    },
  };
}

async function handlerOf({ http, https }: Outbound, { timeoutMs = REQUEST_TIMEOUT_MS }: AwsOptions) {
  const { NodeHttpHandler } = await import('@smithy/node-http-handler');
  return new NodeHttpHandler({
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: timeoutMs,
    // Without it the SDK only logs a warning for an unanswered request, which then waits for ever.
    throwOnRequestTimeout: true,
    httpAgent: http,
    httpsAgent: https,
  });
}

async function assumeRole(settings: ClientSettings, role: RoleRequest, abortSignal: AbortSignal): Promise<AwsKeys> {
  const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts');
  const { Credentials } = await new STSClient(settings).send(new AssumeRoleCommand(role), { abortSignal });
  const { AccessKeyId, SecretAccessKey, SessionToken } = Credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken) {
    throw new SinkError('retry', { code: 'BadAnswer', message: 'STS answered without credentials' });
  }
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
}
