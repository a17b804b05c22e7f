// What an app for codes does, on the phone of a user of these tests.

import { totpCode, totpStep } from '../../src/store/sign-in/one-time-codes.ts';
import { type Browser, PASSWORD } from './browser.ts';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The bytes of a secret that was shown. */
function secretIn(shown: string): Buffer {
  const bits = [...shown].map((one) => BASE32.indexOf(one).toString(2).padStart(5, '0'));
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** An app with a new secret of the user, who is not asked for its codes yet. @param now the wall clock of the gateway. */
export async function newApp(browser: Browser, now: () => number) {
  const { body } = await browser.ask('beginSecondFactor', { password: PASSWORD });
  const { secret, url } = body.data.beginSecondFactor.secret;
  const bytes = secretIn(secret);
  /** The code so many steps from now. */
  const codeAt = (distance: number) => totpCode(bytes, totpStep(now()) + distance);
  return { secret, url, codeAt };
}

/** Turns the second factor of a user on. The code of now is used by it. */
export async function turnOnSecondFactor(browser: Browser, now: () => number) {
  const { codeAt } = await newApp(browser, now);
  const { body } = await browser.ask('confirmSecondFactor', { code: codeAt(0) });
  return { codeAt, recoveryCodes: body.data.confirmSecondFactor.recoveryCodes as string[] };
}
