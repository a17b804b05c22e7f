// Whom requests to AWS are made as: always somebody who was told of. The SDK's own search through environment, files and
// the machine's metadata would find an identity of the operator's, for which a destination must never be a way in.

import { SinkError } from '../sink.ts';
import type { AwsTargetAuth } from './auth.ts';
import { awsFailure, withoutEvents } from './errors.ts';

/** How long a session lasts: the most that is granted to an identity which is a role itself. */
const SESSION_SECONDS = 3600;
/** A session is replaced so long before its end, so that none ends under way. */
const RENEW_BEFORE_MS = 300_000;
/** What AWS allows the name of a session. */
const SESSION_NAME_MAX = 64;

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface AwsIdentity {
  /** The same object for as long as the keys are the same. @throws {SinkError} */
  keys(signal: AbortSignal): Promise<AwsKeys>;
  /** The keys were refused. @returns whether the next ones will be others. */
  forget(): boolean;
}

/** How a session of a role is asked for. @throws what the SDK throws. */
export type AssumeRole = (keys: AwsKeys, role: RoleRequest, signal: AbortSignal) => Promise<AwsKeys>;

export interface RoleRequest {
  RoleArn: string;
  RoleSessionName: string;
  /** Proves to the role's owner for which account it is asked: one account cannot name the role of another. */
  ExternalId: string;
  DurationSeconds: number;
}

export interface IdentityContext {
  destinationId: string;
  accountId: string;
  /** The gateway's own identity, for roles. */
  own: AwsKeys | undefined;
  now(): number;
}

/** The identity that a target says. */
export function identityOf({ role, creds }: AwsTargetAuth, asker: IdentityContext, assume: AssumeRole): AwsIdentity {
  if (role) return roleIdentity(role.roleArn, asker, assume);
  const secretAccessKey = creds?.awsSecretAccessKey;
  const keys = creds && secretAccessKey ? { accessKeyId: creds.awsAccessKeyId, secretAccessKey } : undefined;
  return {
    async keys() {
      if (!keys) throw missing('the destination has neither a role nor an access key with its secret');
      return keys;
    },
    forget: () => false,
  };
}

function roleIdentity(
  roleArn: string,
  { destinationId, accountId, own, now }: IdentityContext,
  assume: AssumeRole,
): AwsIdentity {
  let session: { keys: AwsKeys; until: number } | undefined;
  const request = {
    RoleArn: roleArn,
    RoleSessionName: `tgw-${destinationId}`.slice(0, SESSION_NAME_MAX),
    ExternalId: accountId,
    DurationSeconds: SESSION_SECONDS,
  };
  return {
    async keys(signal) {
      if (!own) throw missing('roles cannot be used: this gateway has no AWS identity (AWS_ACCESS_KEY_ID)');
      if (session && now() < session.until) return session.keys;
      // By our clock from start to end, so that it does not matter whether AWS has the same time.
      const until = now() + SESSION_SECONDS * 1000 - RENEW_BEFORE_MS;
      const keys = await assume(own, request, signal).catch((error) => {
        throw withoutEvents(awsFailure(error, now()));
      });
      session = { keys, until };
      return keys;
    },
    forget() {
      session = undefined;
      return true;
    },
  };
}

function missing(message: string): SinkError {
  return new SinkError('config', { code: 'NoCredentials', message });
}
