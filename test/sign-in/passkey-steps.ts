// What users of these tests do with passkeys.

import { type Browser, PASSWORD } from './browser.ts';
import { PasskeyDevice, type Wrongs } from './passkey-device.ts';

/** Begins to add a passkey. @returns what the browser is to be asked. */
export async function begin(browser: Browser, proof: { password?: string; code?: string | undefined } = {}) {
  const { body } = await browser.ask('beginPasskey', { input: { password: PASSWORD, ...proof } });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return body.data.beginPasskey.options;
}

/** Adds the passkey of a new device. */
export async function addDevice(browser: Browser, name = 'a phone', code?: string) {
  const device = new PasskeyDevice();
  const credential = device.create(await begin(browser, { code }));
  const { body } = await browser.ask('addPasskey', { input: { name, credential } });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return { device, id: body.data.addPasskey.passkey.id as string };
}

/** Signs in with a device. @returns the answer. */
export async function signInWith(browser: Browser, device: PasskeyDevice, wrongs: Wrongs = {}) {
  const { body } = await browser.ask('beginPasskeySignIn');
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return complete(browser, device.get(body.data.beginPasskeySignIn.options, wrongs));
}

export const complete = (browser: Browser, credential: unknown) => browser.ask('completePasskeySignIn', { credential });
