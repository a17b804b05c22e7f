// An agent on the SDK of the field, `@ngrok/ngrok`, with the same words as ours.

import { forward } from '@ngrok/ngrok';

const settings = JSON.parse(process.env.SDK_SETTINGS ?? '{}');
const listener = await forward({ ...settings, schemes: ['HTTP'], forwards_to: 'the origin' });
process.stdout.write(`forwarding ${listener.url()} -> 127.0.0.1:${settings.addr}\n`);
// The SDK alone does not keep a process alive.
setInterval(() => undefined, 60_000);
