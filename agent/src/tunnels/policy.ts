// Traffic policies: those that come with a request, and the default for tunnels that are made without one.

import { readFileSync } from 'node:fs';
import { checkPolicy, describeJsonError, POLICY_LIMITS } from '@gateway/protocol';
import shipped from '../../default-policy.json' with { type: 'json' };
import type { Protocol } from '../gateway-client.ts';
import type { Log } from '../log.ts';

/** Characters of YAML that the gateway reads: its comments and blanks may double what it says. */
const TEXT_MAX = 2 * POLICY_LIMITS.document;

export type PolicyDocument = Record<string, unknown>;

/** A policy that cannot be used; the text names the places, as `policy.inbound[0].actions must …`. */
export class PolicyError extends Error {}

/**
 * Holds a policy against what is well formed, as the gateway does too.
 * @param name of the whole, for the text.
 * @throws {PolicyError}
 */
export function readPolicy(value: unknown, protocol: Protocol, name: string): PolicyDocument {
  const problems = checkPolicy(value, protocol);
  if (problems.length === 0) return value as PolicyDocument;
  throw new PolicyError(
    problems.map(({ path, message }) => `${path ? `${name}.${path}` : name} ${message}`).join('; '),
  );
}

/** Reads a policy from a JSON file. @throws {PolicyError} that names the file. */
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
 * Reads the policy for one tunnel from a file. What YAML says is the gateway's to judge: the agent reads JSON only.
 * @returns a text in JSON or YAML, as the gateway takes it.
 * @throws {PolicyError} that names the file.
 */
export function readPolicyText(file: string, protocol: Protocol): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new PolicyError(`${file} must be a file with a policy in JSON or YAML: ${(error as Error).message}`);
  }
  // To the gateway, no text is no policy.
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

const OF_HTTP = ['on_http_request', 'on_http_response', 'outbound'];

/** What of a policy for all tunnels applies to this protocol: phases of HTTP are left out where there is no HTTP. */
export function policyFor(policy: PolicyDocument, protocol: Protocol): PolicyDocument {
  if (protocol === 'http' || protocol === 'https') return policy;
  return Object.fromEntries(Object.entries(policy).filter(([phase]) => !OF_HTTP.includes(phase)));
}

export interface DefaultPolicy {
  /**
   * The default for a new tunnel, read anew. When it cannot be used, the last one that could: a tunnel without policy is
   * never what somebody with a default wanted.
   * @throws {PolicyError} when there never was one.
   */
  current(protocol: Protocol): PolicyDocument;
  /** The last good one, to be kept over restarts; null when there is none yet. */
  readonly lastGood: PolicyDocument | null;
}

/**
 * @param file null for the policy that comes with the agent.
 * @param lastGood of the run before.
 */
export function openDefaultPolicy(file: string | null, lastGood: PolicyDocument | null, log: Log): DefaultPolicy {
  let good = lastGood;
  return {
    current(protocol) {
      try {
        good = file === null ? shipped : readPolicyFile(file, 'http');
      } catch (error) {
        if (good === null) throw error;
        log('warn', 'the default policy cannot be used; the last good one is', { reason: (error as Error).message });
      }
      return readPolicy(policyFor(good, protocol), protocol, 'the default policy');
    },
    get lastGood() {
      return good;
    },
  };
}
