// Traffic policies: those of requests, and the default for tunnels that are created without one.

import { readFileSync } from 'node:fs';
import { checkPolicy, describeJsonError, POLICY_LIMITS } from '@gateway/protocol';
import builtIn from '../../default-policy.json' with { type: 'json' };
import type { Protocol } from '../gateway-client.ts';
import type { Log } from '../log.ts';

/** The most characters of YAML that the gateway reads: twice the JSON limit, for comments and whitespace. */
const TEXT_MAX = 2 * POLICY_LIMITS.document;

/** A parsed policy. */
export type PolicyDocument = Record<string, unknown>;

/** An invalid policy. The message names the places, as in `policy.inbound[0].actions must …`. */
export class PolicyError extends Error {}

/**
 * Validates the shape of a policy, as the gateway does.
 * @param name the name of the document in the message.
 * @throws {PolicyError}
 */
export function readPolicy(value: unknown, protocol: Protocol, name: string): PolicyDocument {
  const problems = checkPolicy(value, protocol);
  if (problems.length === 0) return value as PolicyDocument;
  throw new PolicyError(
    problems.map(({ path, message }) => `${path ? `${name}.${path}` : name} ${message}`).join('; '),
  );
}

/** Reads a policy from a JSON file. @throws {PolicyError} with the name of the file. */
export function readPolicyFile(file: string, protocol: Protocol): PolicyDocument {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new PolicyError(`${file} must be a file with a policy in JSON: ${describeJsonError(error)}`);
  }
  return readPolicy(value, protocol, file);
}

/**
 * Reads the policy of one tunnel from a file. The agent validates JSON only; the gateway validates YAML.
 * @returns a text in JSON or YAML.
 * @throws {PolicyError} with the name of the file.
 */
export function readPolicyText(file: string, protocol: Protocol): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new PolicyError(`${file} must be a file with a policy in JSON or YAML: ${(error as Error).message}`);
  }
  // The gateway would take an empty text as no policy.
  if (text.trim() === '') throw new PolicyError(`${file} must be a file with a policy in JSON or YAML; it is empty`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (text.length <= TEXT_MAX) return text;
    throw new PolicyError(`${file} must have at most ${TEXT_MAX} characters`);
  }
  return JSON.stringify(readPolicy(value, protocol, file));
}

const HTTP_PHASES = ['on_http_request', 'on_http_response', 'outbound'];

/** The part of a policy that applies to a protocol: without the HTTP phases for tcp and tls. */
export function policyFor(policy: PolicyDocument, protocol: Protocol): PolicyDocument {
  if (protocol === 'http' || protocol === 'https') return policy;
  return Object.fromEntries(Object.entries(policy).filter(([phase]) => !HTTP_PHASES.includes(phase)));
}

/** The policy of tunnels that are created without one. */
export interface DefaultPolicy {
  /**
   * Reads the default for a new tunnel. When the file is invalid, it returns the last valid one, as a tunnel without any
   * policy would be open.
   * @throws {PolicyError} when there was no valid one before.
   */
  current(protocol: Protocol): PolicyDocument;
  /** The last valid one, which is kept over restarts; null when there is none yet. */
  readonly lastGood: PolicyDocument | null;
}

/**
 * Opens the default policy.
 * @param file its file; null for the built-in policy.
 * @param lastGood the last valid policy of the run before.
 */
export function openDefaultPolicy(file: string | null, lastGood: PolicyDocument | null, log: Log): DefaultPolicy {
  let lastValid = lastGood;
  return {
    current(protocol) {
      try {
        lastValid = file === null ? builtIn : readPolicyFile(file, 'http');
      } catch (error) {
        if (lastValid === null) throw error;
        log('warn', 'the default policy cannot be used; the last good one is', { reason: (error as Error).message });
      }
      return readPolicy(policyFor(lastValid, protocol), protocol, 'the default policy');
    },
    get lastGood() {
      return lastValid;
    },
  };
}
