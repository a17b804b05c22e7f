// The identity that AWS requests are signed with, which is always configured. The SDK's default search through environment, files and
// instance metadata could find an identity of the operator, which a destination must never be able to use.

import { SinkError } from '../sink.ts';
import type { AwsTargetAuth } from './auth.ts';
import { awsFailure, withoutEvents } from './errors.ts';

/** The duration of a session, in seconds: the most that AWS grants to an identity that is itself a role. */
const SESSION_SECONDS = 3600;
/** A session is replaced so long before its end, so that none ends during a request. */
const RENEW_BEFORE_MS = 300_000;
/** The longest session name that AWS allows, in characters. */
const SESSION_NAME_MAX = 64;

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface AwsIdentity {
  /** The same object for as long as the keys are the same. @throws {SinkError} */
  keys(signal: AbortSignal): Promise<AwsKeys>;
  /** Reports that AWS refused the keys. @returns whether the next call gets other keys. */
  forget(): boolean;
}

/** Assumes a role. @throws what the SDK throws. */
export type AssumeRole = (keys: AwsKeys, role: RoleRequest, signal: AbortSignal) => Promise<AwsKeys>;

export interface RoleRequest {
  RoleArn: string;
  RoleSessionName: string;
  /** The external id. It tells the role's owner for which account it is assumed, so that no account can use the role of another. */
  ExternalId: string;
  DurationSeconds: number;
}

export interface IdentityContext {
  destinationId: string;
  accountId: string;
  /** The gateway's own identity, which assumes roles. */
  own: AwsKeys | undefined;
  now(): number;
}

/** The identity of a target. */
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
      // The end is computed by the local clock, so that a difference to the clock of AWS does not matter.
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
