// The whole dashboard: who is there, and what is shown to them.

import { useEffect, useState } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { pathOf } from './data/addresses.ts';
import { type ApiFailure, failureOf } from './data/client.ts';
import { meetViewer, viewer } from './data/session.ts';
import { signInToken } from './data/sign-in-token.ts';
import { places } from './screens/index.ts';
import { SignIn } from './screens/sign-in/index.tsx';
import { Broken } from './shell/broken.tsx';
import { NotThere } from './shell/not-there.tsx';
import { Shell } from './shell/shell.tsx';
import { ErrorNote } from './ui/error-note.tsx';
import { Skeleton } from './ui/skeleton.tsx';
import { Toasts } from './ui/toast.tsx';

const HOME = pathOf('endpoints');
const SIGN_IN = pathOf('sign-in');

/** Where a stranger wanted to go. In memory only: an address that sends on to another would serve who forges it. */
let wanted = HOME;

export function App() {
  return (
    <LocationProvider scope="/dashboard">
      <Whoever />
      <Toasts />
    </LocationProvider>
  );
}

function Whoever() {
  const { path, url, route } = useLocation();
  const [error, setError] = useState<ApiFailure>();
  const isStranger = viewer.value === null || signInToken.value !== null;

  async function meet() {
    setError(undefined);
    await meetViewer().catch((thrown) => setError(failureOf(thrown)));
  }

  useEffect(() => {
    if (viewer.value === undefined) void meet();
  });
  useEffect(() => {
    if (viewer.value === undefined) return;
    if (isStranger && path !== SIGN_IN) {
      wanted = url;
      route(SIGN_IN, true);
    } else if (!isStranger && path === SIGN_IN) {
      route(wanted, true);
      wanted = HOME;
    } else if (!isStranger && path === pathOf()) {
      route(HOME, true);
    }
  }, [isStranger, path, url, route, viewer.value]);

  if (error) {
    return (
      <main class="alone">
        <ErrorNote error={error} retry={() => void meet()} />
      </main>
    );
  }
  if (viewer.value === undefined) {
    return (
      <main class="alone">
        <Skeleton />
      </main>
    );
  }
  return isStranger ? <SignIn /> : <Screens />;
}

function Screens() {
  return (
    <Shell places={places}>
      <Broken>
        <Router>
          {places.flatMap(({ folder, component }) => [
            <Route key={folder} path={pathOf(folder)} component={component} />,
            <Route key={`${folder}/`} path={`${pathOf(folder)}/*`} component={component} />,
          ])}
          <Route default component={NotThere} />
        </Router>
      </Broken>
    </Shell>
  );
}
