// Gives the gateway's account another key (RFC 8555, section 7.3.5). Any node may do it, and several at once: the authority is asked
// which of the keys the account has.

import type { AcmeClient } from '../client/client.ts';
import { AcmeProblem, AcmeUnreachable } from '../client/problem.ts';
import { isTransient } from './failures.ts';

/** `later`: the account has its old key, and it is to be tried again. */
export type KeyChange = { result: 'done' } | { result: 'refused' | 'later'; reason: string };

/**
 * @param current a client with the key of the account. @param next one with the new key, and the URL of the account.
 * @throws when nobody can tell which key the account has: nothing is to be signed with either of them.
 */
export async function changeAccountKey(current: AcmeClient, next: AcmeClient, nextKey: string): Promise<KeyChange> {
  const url = current.accountUrl;
  if (await hasAccount(next, url)) return { result: 'done' };
  const { keyChange } = await current.directory();
  if (!keyChange) return { result: 'refused', reason: 'The authority does not offer to change keys.' };
  try {
    await current.changeKey(nextKey);
    return { result: 'done' };
  } catch (error) {
    if (!(error instanceof AcmeProblem || error instanceof AcmeUnreachable)) throw error;
    // The next job has it made again.
    if (error instanceof AcmeProblem && error.type === 'accountDoesNotExist') throw error;
    // Another node may have changed it, or the answer was lost.
    if (await hasAccount(next, url)) return { result: 'done' };
    return { result: isTransient(error) ? 'later' : 'refused', reason: error.message };
  }
}

async function hasAccount(client: AcmeClient, url: string | undefined): Promise<boolean> {
  try {
    return (await client.findAccount()) === url;
  } catch (error) {
    if (error instanceof AcmeProblem && !isTransient(error)) return false;
    throw error;
  }
}
