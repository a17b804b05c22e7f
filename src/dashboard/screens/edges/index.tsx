// Edges with their routes and modules, and the objects that modules refer to.

import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import { AuthorityList, AuthorityPage, NewAuthority } from './authorities/index.tsx';
import { NewFailoverBackend, NewHttpResponse, NewStaticBackend, NewWeightedBackend } from './backends/choosing.tsx';
import {
  FailoverBackendList,
  HttpResponseList,
  StaticBackendList,
  WeightedBackendList,
} from './backends/choosing-lists.tsx';
import { BackendList, BackendPage, NewBackend } from './backends/index.tsx';
import { CloudEndpointList } from './cloud/list.tsx';
import { CloudEndpointPage, NewCloudEndpoint } from './cloud/pages.tsx';
import { TcpEdgeModulePage, TcpEdgePage, TlsEdgeModulePage, TlsEdgePage } from './connection-edge.tsx';
import './edges.css';
import { HttpsEdgeList, TcpEdgeList, TlsEdgeList } from './edge-lists.tsx';
import { HttpsEdgeModulePage, HttpsEdgePage } from './https-edge.tsx';
import { IpPolicyList, IpPolicyPage, NewIpPolicy } from './ip-policies/index.tsx';
import { IpPolicyRulePage } from './ip-policies/rule-detail.tsx';
import { IpRestrictionList, IpRestrictionPage, NewIpRestriction } from './ip-restrictions/index.tsx';
import { NewEdge } from './new-edge.tsx';
import { PublishPage } from './publishing/publish-page.tsx';
import { HttpsStartPage, TlsStartPage } from './publishing/start-page.tsx';
import { NewRoute, RedirectToRoute } from './routes/new.tsx';
import './modules/policy/policy.css';
import { RouteModulePage, RoutePage } from './routes/detail.tsx';
import { NewVault, VaultList, VaultPage } from './vaults/index.tsx';
import { SecretPage } from './vaults/secret-detail.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={HttpsEdgeList} />
      <Route path="/tls" component={TlsEdgeList} />
      <Route path="/tcp" component={TcpEdgeList} />
      <Route path="/new" component={PublishPage} />
      <Route path="/new/empty" component={NewEdge} />
      <Route path="/https/:id" component={HttpsEdgePage} />
      <Route path="/https/:id/start" component={HttpsStartPage} />
      <Route path="/https/:id/modules/:module" component={HttpsEdgeModulePage} />
      <Route path="/https/:id/routes/new" component={NewRoute} />
      <Route path="/https/:id/routes/:routeId" component={RoutePage} />
      <Route path="/https/:id/routes/:routeId/modules/:module" component={RouteModulePage} />
      <Route path="/routes/:id" component={RedirectToRoute} />
      <Route path="/tls/:id" component={TlsEdgePage} />
      <Route path="/tls/:id/start" component={TlsStartPage} />
      <Route path="/tls/:id/modules/:module" component={TlsEdgeModulePage} />
      <Route path="/tcp/:id" component={TcpEdgePage} />
      <Route path="/tcp/:id/modules/:module" component={TcpEdgeModulePage} />
      <Route path="/cloud" component={CloudEndpointList} />
      <Route path="/cloud/new" component={NewCloudEndpoint} />
      <Route path="/cloud/:id" component={CloudEndpointPage} />
      <Route path="/backends" component={BackendList} />
      <Route path="/backends/new" component={NewBackend} />
      <Route path="/backends/weighted" component={WeightedBackendList} />
      <Route path="/backends/weighted/new" component={NewWeightedBackend} />
      <Route path="/backends/failover" component={FailoverBackendList} />
      <Route path="/backends/failover/new" component={NewFailoverBackend} />
      <Route path="/backends/responses" component={HttpResponseList} />
      <Route path="/backends/responses/new" component={NewHttpResponse} />
      <Route path="/backends/static" component={StaticBackendList} />
      <Route path="/backends/static/new" component={NewStaticBackend} />
      <Route path="/backends/:id" component={BackendPage} />
      <Route path="/ip-policies" component={IpPolicyList} />
      <Route path="/ip-policies/new" component={NewIpPolicy} />
      <Route path="/ip-policies/:id" component={IpPolicyPage} />
      <Route path="/ip-policy-rules/:id" component={IpPolicyRulePage} />
      <Route path="/ip-restrictions" component={IpRestrictionList} />
      <Route path="/ip-restrictions/new" component={NewIpRestriction} />
      <Route path="/ip-restrictions/:id" component={IpRestrictionPage} />
      <Route path="/vaults" component={VaultList} />
      <Route path="/vaults/new" component={NewVault} />
      <Route path="/vaults/:id" component={VaultPage} />
      <Route path="/secrets/:id" component={SecretPage} />
      <Route path="/authorities" component={AuthorityList} />
      <Route path="/authorities/new" component={NewAuthority} />
      <Route path="/authorities/:id" component={AuthorityPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
