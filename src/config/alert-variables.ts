// The variables of alerts.

import { z } from 'zod';
import type { AlertSettings } from '../alerts/settings.ts';
import { milliseconds } from './value-types.ts';

/** A mailbox as in `Gateway <gateway@example.com>`, or its address alone. */
const MAILBOX = /^[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>$|^[^\s<>@]+@[^\s<>@]+$/;

export const alertVariables = {
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' })
    .optional()
    .meta({
      description:
        'mail server for [alerts](alerts.md#e-mail): `smtp://user:password@mail.example.com:587`, which uses STARTTLS where the server has it, or `smtps://…:465`. Characters of the password that a URL cannot have are percent-encoded. Set it together with `SMTP_FROM`',
      defaultText: 'no e-mail',
    }),
  SMTP_FROM: z
    .string()
    .regex(MAILBOX, 'must be an e-mail address, or a name and an address in angle brackets')
    .optional()
    .meta({ description: 'sender of alerts: `gateway@example.com`, or `Gateway <gateway@example.com>`' }),
  ALERT_GRACE_MS: milliseconds(120_000, 0).meta({
    description: 'how long after a start no alert fires or is resolved that is about agents: they are coming back',
  }),
};

type AlertEnvironment = z.output<z.ZodObject<typeof alertVariables>>;

export function alertSettings({ SMTP_URL: url, SMTP_FROM: from, ALERT_GRACE_MS }: AlertEnvironment): AlertSettings {
  return { smtp: url && from ? { url, from } : undefined, alertGraceMs: ALERT_GRACE_MS };
}
