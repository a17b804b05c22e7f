// A link by which a user sets a password. Its secret is in the fragment, and in the state of this component alone.

import { useState } from 'preact/hooks';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { CreateSignInLink } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Secret } from '../../ui/layout/one-time-secret.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { When } from '../../ui/text/relative-time.tsx';

interface Link {
  url: string;
  expiresAt: string;
}

export function SignInLinkSection({ userId, email }: { userId: string; email: string }) {
  const create = useAction(CreateSignInLink);
  const [link, setLink] = useState<Link>();
  async function make() {
    const result = await create.act({ userId });
    if (result?.createSignInLink) setLink(result.createSignInLink);
  }
  return (
    <Section
      title="Sign-in link"
      lead="With it the user sets a password, a new one too, and is signed in. It works once, for 15 minutes; older links of the same user end."
      actions={
        !link && (
          <Button isBusy={create.isBusy} onClick={() => void make()}>
            Make a sign-in link
          </Button>
        )
      }
    >
      <ErrorNote error={create.error} />
      {link && (
        <Secret name="sign-in link" secret={link.url} onKept={() => setLink(undefined)}>
          <p>
            Give it to {email} by a way that nobody else reads. It ends <When at={link.expiresAt} />.
          </p>
        </Secret>
      )}
    </Section>
  );
}
