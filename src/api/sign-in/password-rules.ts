import { ApiError } from '../errors/errors.ts';

const LENGTH_MIN = 12;
const LENGTH_MAX = 1024;
/** A shorter name would be found in too many words. */
const NAME_MIN = 3;

/**
 * Length is what makes a password good; beyond that only what is guessed first is refused.
 * @throws {ApiError} which never shows any of it.
 */
export function checkPassword(password: string, email: string): void {
  const member = 'password';
  const characters = [...password];
  if (characters.length < LENGTH_MIN || characters.length > LENGTH_MAX)
    throw new ApiError('passwordLength', { member, min: LENGTH_MIN, max: LENGTH_MAX });
  if (new Set(characters).size === 1) throw new ApiError('passwordRepeats', { member });
  const name = email.slice(0, email.lastIndexOf('@')).toLowerCase();
  if (name.length >= NAME_MIN && password.toLowerCase().includes(name))
    throw new ApiError('passwordHasName', { member });
}
