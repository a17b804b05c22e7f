// The redirect URI that is to be registered at the provider of a sign-in.

import { useQuery } from '../../../data/hooks/use-query.ts';
import { SignInCallbackOf } from '../../../generated/operations.ts';
import { Note } from '../../../ui/feedback/note.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import type { ModulePanelProps } from './module-form.ts';

/** It is another one for each provider: below the form, it follows what is typed there. */
export function CallbackPanel({ values: { issuer, provider } }: ModulePanelProps) {
  const asked = String(issuer ?? provider ?? '').trim();
  const { data } = useQuery(SignInCallbackOf, { issuer: asked }, { skip: asked === '' });
  if (!data || asked === '') return null;
  const { url, sharedUrl } = data.signInCallback;
  return (
    <Note variant={sharedUrl ? 'warn' : 'info'}>
      <p>
        At the provider, register the redirect URI <CopyButton text={url} label="the redirect URI" />
      </p>
      {sharedUrl && (
        <p>
          Visitors still come back by <code>{sharedUrl}</code>, which the next release does not answer: see the page
          “Visitors”.
        </p>
      )}
    </Note>
  );
}
