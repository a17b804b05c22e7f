// What all sign-ins of this process share: how many passwords are hashed at once, and who has to wait.

import { Passwords, PasswordsBusy } from '../../store/sign-in/passwords.ts';
import type { SignInService } from '../dependencies.ts';
import { ApiError } from '../errors/errors.ts';
import { SignInAttempts } from './attempts.ts';

/** @param now the wall clock, in milliseconds. */
export function createSignInService(now: () => number): SignInService {
  const passwords = new Passwords();
  return {
    attempts: new SignInAttempts(now),
    hashPassword: (password) => passwords.hash(password).catch(translate),
    verifyPassword: (password, stored) => passwords.isRight(password, stored).catch(translate),
  };
}

function translate(error: unknown): never {
  throw error instanceof PasswordsBusy ? new ApiError('passwordsBusy') : error;
}
