// What all sign-ins of this process share: how many hash at once, and who has to wait.

import { Passwords, PasswordsBusy } from '../../store/sign-in/passwords.ts';
import { ApiError } from '../errors.ts';
import { Attempts } from './attempts.ts';

export interface SignInDesk {
  attempts: Attempts;
  /** @throws {ApiError} when too many sign in at once. */
  hash(password: string): Promise<string>;
  /** Whether this is the password of a hash; of none, it takes as long to say no. @throws {ApiError} likewise. */
  isRight(password: string, stored: string | undefined): Promise<boolean>;
}

/** @param now the wall clock, in milliseconds. */
export function signInDesk(now: () => number): SignInDesk {
  const passwords = new Passwords();
  return {
    attempts: new Attempts(now),
    hash: (password) => passwords.hash(password).catch(translate),
    isRight: (password, stored) => passwords.isRight(password, stored).catch(translate),
  };
}

function translate(error: unknown): never {
  throw error instanceof PasswordsBusy ? new ApiError('passwordsBusy') : error;
}
