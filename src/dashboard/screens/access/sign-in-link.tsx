// A link by which a user sets a password. Only the state of this component holds the link, which contains a secret.

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { CreateSignInLink } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { OneTimeSecret } from '../../ui/layout/one-time-secret.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

interface Link {
  url: string;
  expiresAt: string;
}

export function SignInLinkSection({ userId, email }: { userId: string; email: string }) {
  const create = useMutation(CreateSignInLink);
  const [link, setLink] = useState<Link>();
  async function make() {
    const result = await create.mutate({ userId });
    if (result?.createSignInLink?.signInLink) setLink(result.createSignInLink.signInLink);
  }
  return (
    <Section
      title="Sign-in link"
      lead="The user sets a password with it, or a new one, and is signed in. It works once, for 15 minutes; older links of the same user end."
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
        <OneTimeSecret name="sign-in link" secret={link.url} onDismiss={() => setLink(undefined)}>
          <p>
            Give it to {email} by a way that nobody else reads. It ends <RelativeTime at={link.expiresAt} />.
          </p>
        </OneTimeSecret>
      )}
    </Section>
  );
}
