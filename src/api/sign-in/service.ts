// What all sign-ins of this process share: how many passwords are hashed at once, and who has to wait.

import { Broadcast } from '../../cluster/broadcast.ts';
import type { ClusterAccess } from '../../cluster/cluster-query.ts';
import { Passwords, PasswordsBusy } from '../../store/sign-in/passwords.ts';
import type { SignInService, SingleSignOn } from '../dependencies.ts';
import { ApiError } from '../errors/errors.ts';
import { type AttemptStep, SignInAttempts } from './attempts.ts';

const SIGN_IN_STEPS = 'signInSteps';

/** The other nodes, and how often they are told of attempts; milliseconds. */
export interface SignInSharing {
  cluster: ClusterAccess;
  shareMs: number;
}

/** @param now the wall clock, in milliseconds. @param sharing undefined where there are no other nodes. */
export function createSignInService(
  now: () => number,
  sharing: SignInSharing | undefined,
  singleSignOn: SingleSignOn | undefined,
): SignInService {
  const passwords = new Passwords();
  const attempts: SignInAttempts = new SignInAttempts(now, (step) => broadcast?.send(step));
  const broadcast =
    sharing &&
    new Broadcast<AttemptStep>(sharing.cluster, {
      method: SIGN_IN_STEPS,
      batchMs: sharing.shareMs,
      onItem: (step) => attempts.follow(step),
    });
  return {
    singleSignOn,
    attempts,
    hashPassword: (password) => passwords.hash(password).catch(translate),
    verifyPassword: (password, stored) => passwords.isRight(password, stored).catch(translate),
  };
}

function translate(error: unknown): never {
  throw error instanceof PasswordsBusy ? new ApiError('passwordsBusy') : error;
}
